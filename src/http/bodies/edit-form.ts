import { UploadForm } from '../../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES, MAX_INPUT_BYTES } from '../../../schemas/primitives.ts'
import type { Services } from '../../services/services.ts'
import type { IncomingUpload } from '../../services/uploads/incoming-upload.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import { readerOf } from '../../transports/validate.ts'
import type { Context } from '../context.ts'
import { readDisposition } from './disposition.ts'
import { invalidPart, MAX_OVERHEAD_BYTES, readParts, textOf, writeFile } from './form-parts.ts'
import { Malformed, type Part } from './multipart.ts'

/** Texts have to fit the input of a run and its metadata. */
const MAX_TEXT_BYTES = MAX_INPUT_BYTES + MAX_OVERHEAD_BYTES

/** No model has nearly as many parameters. */
const MAX_PARTS = 100

/** A form that has arrived in full. The caller must finish or discard the image. */
export interface ReceivedEdit {
  texts: Record<string, string>
  image: IncomingUpload
  /** The name of the image. */
  named: UploadForm
}

const uploadForm = readerOf(UploadForm, 'form')

/** Receives a form with one image. If it rejects, with ApiError or Unavailable, the image leaves no trace. */
export const receiveEdit = async (ctx: Context, uploads: Services['uploads']): Promise<ReceivedEdit> => {
  const texts = new Map<string, string>()
  const seen = new Set<string>()
  let [textBytes, parts] = [0, 0]
  let image: IncomingUpload | undefined
  let named: UploadForm = {}
  const take = async (part: Part) => {
    const { name: given, filename } = readDisposition(part.header('content-disposition') ?? '')
    if (given === undefined) throw new Malformed('A part has no name')
    if (++parts > MAX_PARTS) throw new ApiError('invalid_request', `The form has more than ${MAX_PARTS} parts.`)
    // Clients send lists of images, even of one, as image[].
    const name = given.replace(/^(image|mask)\[\d*\]$/, '$1')
    if (name === '__proto__') throw invalidPart(name, 'is unknown')
    if (name === 'mask') throw invalidPart(name, 'is not supported: no model takes a mask')
    const isTwice = seen.has(name)
    seen.add(name)
    if (name === 'image') {
      if (isTwice) throw invalidPart(name, 'must be one image, because models edit one image')
      named = uploadForm(filename === undefined ? {} : { filename })
      // The content decides on the type, because clients label images at will.
      image = unwrap(await uploads.receive(ctx.state.caller, undefined))
      return writeFile(part, image.body)
    }
    if (isTwice) throw invalidPart(name, 'is given twice')
    if (filename !== undefined) throw invalidPart(name, 'must be a text, not a file')
    const text = await textOf(part, MAX_TEXT_BYTES)
    textBytes += Buffer.byteLength(text)
    if (textBytes > MAX_TEXT_BYTES)
      throw new ApiError('payload_too_large', `The texts of the form are larger than ${MAX_TEXT_BYTES} bytes.`)
    texts.set(name, text)
  }
  try {
    await readParts(ctx, MAX_INLINE_BYTES + MAX_TEXT_BYTES + MAX_OVERHEAD_BYTES, take)
    if (!image) throw invalidPart('image', 'is required')
    return { texts: Object.fromEntries(texts), image, named }
  } catch (error) {
    await (image as IncomingUpload | undefined)?.discard()
    throw error
  }
}
