import { UploadForm } from '../../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Services } from '../../services/services.ts'
import type { IncomingUpload } from '../../services/uploads/incoming-upload.ts'
import { unwrap } from '../../transports/refusals.ts'
import { readerOf } from '../../transports/validate.ts'
import type { Context } from '../context.ts'
import { readDisposition } from './disposition.ts'
import { invalidPart, MAX_OVERHEAD_BYTES, readParts, textOf, writeFile } from './form-parts.ts'
import { Malformed, type Part } from './multipart.ts'

const MAX_FORM_BYTES = MAX_INLINE_BYTES + MAX_OVERHEAD_BYTES

const uploadForm = readerOf(UploadForm, 'form')

/** Receives the single file of a form. If it rejects, with ApiError or Unavailable, the file leaves no trace. */
export const receiveForm = async (ctx: Context, uploads: Uploads): Promise<UploadRow> => {
  const received = await readUpload(ctx, declared => uploads.receive(ctx.state.caller, declared))
  const stored = await received.file.finish(received.form)
  if (received.mayBeText && 'refuse' in stored && isOfNoType(stored.refuse)) throw isText()
  return unwrap(stored)
}

type Uploads = Services['uploads']
type Receive = (declared: string | undefined) => ReturnType<Uploads['receive']>

/** Checks the fields before the file when the file begins, and the whole form at the end. */
const readUpload = async (ctx: Context, receive: Receive) => {
  const fields: UploadForm = {}
  const seen = new Set<string>()
  let file: IncomingUpload | undefined
  let mayBeText = false
  const take = async (part: Part) => {
    const { name, filename } = readDisposition(part.header('content-disposition') ?? '')
    if (name === undefined) throw new Malformed('A part has no name')
    if (name !== 'file' && name !== 'folder_path') throw invalidPart(name, 'is unknown; expected file or folder_path')
    if (seen.has(name)) throw invalidPart(name, 'is given twice')
    seen.add(name)
    if (name === 'folder_path') {
      fields.folder_path = await textOf(part)
    } else {
      const type = part.header('content-type')
      mayBeText = filename === undefined && type === undefined
      if (filename !== undefined) fields.filename = filename
      file = unwrap(await receive(type))
      uploadForm(fields)
      await writeFile(part, file.body)
    }
  }
  try {
    await readParts(ctx, MAX_FORM_BYTES, take)
    if (!file) throw invalidPart('file', 'is required')
    return { file, form: uploadForm(fields), mayBeText }
  } catch (error) {
    await (file as IncomingUpload | undefined)?.discard()
    throw error
  }
}

/** Most clients send only text without a name and a type, but some send files like this. */
const isOfNoType = (refusal: Refusal) => refusal.code === 'file_type_not_accepted' && refusal.mimeType === undefined

const isText = () => invalidPart('file', "must be a file, not text; curl sends a file with -F 'file=@name'")
