import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { UploadForm } from '../../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES, MAX_INLINE_MB } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { toPointerPart } from '../../services/schema-check.ts'
import type { Services } from '../../services/services.ts'
import type { IncomingUpload } from '../../services/uploads/incoming-upload.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import { readerOf } from '../../transports/validate.ts'
import type { Context } from '../context.ts'
import { readDisposition } from './disposition.ts'
import { Malformed, type Part, readForm } from './multipart.ts'
import { decodeUtf8, isUtf8, notUtf8 } from './utf8.ts'

/** The bytes that a form may have in addition to its file. */
const MAX_OVERHEAD_BYTES = 64 * 1024
const MAX_FORM_BYTES = MAX_INLINE_BYTES + MAX_OVERHEAD_BYTES

const uploadForm = readerOf(UploadForm, 'form')

/** Receives the single file of a form. If it rejects, with ApiError or Unavailable, the file leaves no trace. */
export const receiveForm = async (ctx: Context, uploads: Uploads): Promise<UploadRow> => {
  try {
    const boundary = boundaryOf(ctx)
    if ((ctx.request.length ?? 0) > MAX_FORM_BYTES) throw tooLarge()
    const received = await readUpload(ctx.req, boundary, declared => uploads.receive(ctx.state.caller, declared))
    const stored = await received.file.finish(received.form)
    if (received.mayBeText && 'refuse' in stored && isOfNoType(stored.refuse)) throw isText()
    return unwrap(stored)
  } catch (error) {
    throw error instanceof Malformed ? new ApiError('invalid_multipart', `${error.message}.`) : error
  }
}

type Uploads = Services['uploads']
type Receive = (declared: string | undefined) => ReturnType<Uploads['receive']>

const boundaryOf = (ctx: Context): string => {
  const is = ctx.is('multipart/form-data')
  const given = ctx.get('Content-Type')
  if (is === null) throw new Malformed('The body is missing; it must be multipart/form-data')
  if (is === false) {
    const instead = given ? `, not ${given}` : ''
    throw new ApiError('unsupported_media_type', `The body must be multipart/form-data${instead}.`)
  }
  const [, quoted, token] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(given) ?? []
  const boundary = quoted ?? token
  if (boundary === undefined)
    throw new Malformed('The Content-Type has no boundary; let your HTTP client set this header')
  return boundary
}

/** Checks the fields before the file when the file begins, and the whole form at the end. */
const readUpload = async (req: IncomingMessage, boundary: string, receive: Receive) => {
  const fields: UploadForm = {}
  const seen = new Set<string>()
  let file: IncomingUpload | undefined
  let mayBeText = false
  const take = async ({ header, body }: Part) => {
    const { name, filename } = readDisposition(header('content-disposition') ?? '')
    if (name === undefined) throw new Malformed('A part has no name')
    if (name !== 'file' && name !== 'folder_path') throw invalid(name, 'is unknown; expected file or folder_path')
    if (seen.has(name)) throw invalid(name, 'is given twice')
    seen.add(name)
    if (name === 'folder_path') {
      fields.folder_path = await textOf(body, header('content-type'))
    } else {
      const type = header('content-type')
      mayBeText = filename === undefined && type === undefined
      if (filename !== undefined) fields.filename = filename
      file = unwrap(await receive(type))
      uploadForm(fields)
      await pipeline(upTo(MAX_INLINE_BYTES, body), file.body)
    }
  }
  try {
    await readForm(req, { boundary, maxBytes: MAX_FORM_BYTES, tooLarge, take })
    if (!file) throw invalid('file', 'is required')
    return { file, form: uploadForm(fields), mayBeText }
  } catch (error) {
    await (file as IncomingUpload | undefined)?.discard()
    throw error
  }
}

/** Most clients send only text without a name and a type, but some send files like this. */
const isOfNoType = (refusal: Refusal) => refusal.code === 'file_type_not_accepted' && refusal.mimeType === undefined

const isText = () => invalid('file', "must be a file, not text; curl sends a file with -F 'file=@name'")

async function* upTo(maxBytes: number, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const piece of pieces) {
    sizeBytes += piece.byteLength
    if (sizeBytes > maxBytes) throw tooLarge()
    yield piece
  }
}

/** Reads a text, up to the length at which it is refused. */
const textOf = async (body: AsyncIterable<Buffer>, type = ''): Promise<string> => {
  const charset = /;\s*charset=\s*"?([^\s";]*)/i.exec(type)?.[1] ?? ''
  if (!isUtf8(charset)) throw notUtf8(charset)
  const pieces: Buffer[] = []
  let sizeBytes = 0
  for await (const piece of body) {
    if (sizeBytes < MAX_OVERHEAD_BYTES) pieces.push(piece)
    sizeBytes += piece.byteLength
  }
  const text = decodeUtf8(Buffer.concat(pieces))
  if (text === undefined) throw new Malformed('The text of a part is not in UTF-8')
  return text
}

const tooLarge = () =>
  new ApiError(
    'payload_too_large',
    [
      `A file may be at most ${MAX_INLINE_MB} MB here (${MAX_INLINE_BYTES} bytes).`,
      'For a larger file, request a presigned URL with POST /v1/uploads/presigned.',
    ].join(' '),
  )

const invalid = (name: string, message: string) => {
  const path = `/${toPointerPart(name)}`.slice(0, 200)
  return new ApiError('invalid_request', `Invalid form: ${path} ${message}.`, {
    errors: [{ path, message }],
  })
}
