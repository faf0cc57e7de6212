import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { UploadForm } from '../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES } from '../../schemas/primitives.ts'
import type { UploadRow } from '../../schemas/views.ts'
import { toPointerPart } from '../engine/validator.ts'
import { ApiError } from '../services/api-error.ts'
import type { IncomingUpload } from '../services/uploads/incoming-upload.ts'
import { declaredType } from '../services/uploads/upload-rules.ts'
import type { Uploads } from '../services/uploads/uploads.ts'
import { askerOf, type Context } from './context.ts'
import { readDisposition } from './disposition.ts'
import { Malformed, type Part, readForm } from './multipart.ts'
import { readerOf } from './validate.ts'

/** What a form may have besides its file. */
const MAX_OVERHEAD_BYTES = 64 * 1024
const MAX_FORM_BYTES = MAX_INLINE_BYTES + MAX_OVERHEAD_BYTES

const uploadForm = readerOf(UploadForm, 'form')

/** Takes in the one file of a form while it comes. Rejects with ApiError or Unavailable; then there is no trace of it. */
export const receiveUpload = async (ctx: Context, uploads: Uploads): Promise<UploadRow> => {
  try {
    const boundary = boundaryOf(ctx)
    if ((ctx.request.length ?? 0) > MAX_FORM_BYTES) throw tooLarge()
    const { file, form, mimeType } = await readUpload(ctx.req, boundary, uploads)
    return await file.finish(askerOf(ctx), form, mimeType)
  } catch (error) {
    throw error instanceof Malformed ? new ApiError('invalid_multipart', `${error.message}.`) : error
  }
}

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
  if (boundary === undefined) throw new Malformed('The Content-Type names no boundary')
  return boundary
}

/** What has come by then is checked before the file is read, and the whole once more at the end. */
const readUpload = async (req: IncomingMessage, boundary: string, uploads: Uploads) => {
  const fields: { filename?: string | undefined; folder_path?: string } = {}
  const seen = new Set<string>()
  let mimeType: string | undefined
  let file: IncomingUpload | undefined
  const take = async ({ header, body }: Part) => {
    const { name, filename } = readDisposition(header('content-disposition') ?? '')
    if (name === undefined) throw new Malformed('A part has no name')
    if (name !== 'file' && name !== 'folder_path') throw invalid(name, 'is not known; a form has file and folder_path')
    if (seen.has(name)) throw invalid(name, 'is given twice')
    seen.add(name)
    if (name === 'folder_path') {
      fields.folder_path = await textOf(body)
    } else {
      const type = header('content-type')
      if (filename === undefined && type === undefined)
        throw invalid(name, "is a text and not a file; curl sends one with -F 'file=@name'")
      fields.filename = filename
      mimeType = declaredType(type)
      uploadForm(fields)
      file = await uploads.receive()
      await pipeline(upTo(MAX_INLINE_BYTES, body), file.body)
    }
  }
  try {
    await readForm(req, { boundary, maxBytes: MAX_FORM_BYTES, tooLarge, take })
    if (!file) throw invalid('file', 'is required')
    return { file, form: uploadForm(fields), mimeType }
  } catch (error) {
    await (file as IncomingUpload | undefined)?.discard()
    throw error
  }
}

async function* upTo(maxBytes: number, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const piece of pieces) {
    sizeBytes += piece.byteLength
    if (sizeBytes > maxBytes) throw tooLarge()
    yield piece
  }
}

/** As much of a text as is needed to see that it is too long. */
const textOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const pieces: Buffer[] = []
  let sizeBytes = 0
  for await (const piece of body) {
    if (sizeBytes < MAX_OVERHEAD_BYTES) pieces.push(piece)
    sizeBytes += piece.byteLength
  }
  return Buffer.concat(pieces).toString()
}

const tooLarge = () =>
  new ApiError(
    'payload_too_large',
    `A file may have 25 MB here, which is ${MAX_INLINE_BYTES} bytes. Ask for an address with POST /v1/uploads/presigned to send a larger one.`,
  )

const invalid = (name: string, message: string) => {
  const path = `/${toPointerPart(name)}`.slice(0, 200)
  return new ApiError('invalid_request', `The form is not as it should be: ${path} ${message}.`, {
    errors: [{ path, message }],
  })
}
