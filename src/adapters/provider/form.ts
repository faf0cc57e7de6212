import { randomBytes } from 'node:crypto'
import { extensionFor } from '../../domain/media-types.ts'
import { yieldToEventLoop } from '../../json/turns.ts'
import type { InputMedia } from '../../ports/input-media.ts'

/** Writing it takes less than a millisecond. */
const SLICE_BYTES = 192 * 1024

interface EncodedForm {
  contentType: string
  sizeBytes: number
  body: AsyncIterable<Uint8Array>
}

/**
 * Encodes a form as `multipart/form-data`, and lets other work run between slices of its files. The platform's encoder
 * blocks other requests for several times as long. https://html.spec.whatwg.org/#multipart-form-data
 */
export const encodeForm = (form: FormData): EncodedForm => {
  const boundary = `form-${randomBytes(16).toString('hex')}`
  const pieces: (Buffer | File)[] = []
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`
    if (typeof value === 'string') pieces.push(Buffer.from(`${head}\r\n\r\n${value.replace(LINE_BREAK, '\r\n')}\r\n`))
    else {
      const type = value.type || 'application/octet-stream'
      const ofFile = `${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`
      pieces.push(Buffer.from(ofFile), value, Buffer.from('\r\n'))
    }
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  const sizeBytes = pieces.reduce((sum, piece) => sum + ('size' in piece ? piece.size : piece.byteLength), 0)
  return { contentType: `multipart/form-data; boundary=${boundary}`, sizeBytes, body: inTurns(pieces) }
}

const LINE_BREAK = /\r\n|\r|\n/g

const quoted = (name: string): string =>
  name.replace(LINE_BREAK, '\r\n').replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')

async function* inTurns(pieces: (Buffer | File)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (!('size' in piece)) yield piece
    else
      for (let at = 0; at < piece.size; at += SLICE_BYTES) {
        await yieldToEventLoop()
        yield new Uint8Array(await piece.slice(at, at + SLICE_BYTES).arrayBuffer())
      }
  }
}

/** Copying it takes about a millisecond. */
const PART_BYTES = 1024 * 1024

/** A part of a form. Vendors judge it by its name and type. A Blob copies bytes, but not other Blobs. */
export const toUpload = async ({ mimeType, bytes }: InputMedia): Promise<File> => {
  const parts: Blob[] = []
  for (let at = 0; at < bytes.byteLength; at += PART_BYTES) {
    await yieldToEventLoop()
    parts.push(new Blob([bytes.subarray(at, at + PART_BYTES) as Uint8Array<ArrayBuffer>]))
  }
  return new File(parts, `file.${extensionFor(mimeType)}`, { type: mimeType })
}
