import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MAX_INLINE_BYTES, MAX_INLINE_MB } from '../../../schemas/primitives.ts'
import { toPointerPart } from '../../services/schema-check.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { Context } from '../context.ts'
import { Malformed, type Part, readForm } from './multipart.ts'
import { decodeUtf8, isUtf8, notUtf8 } from './utf8.ts'

/** The bytes that a form may have in addition to its file and its long texts. */
export const MAX_OVERHEAD_BYTES = 64 * 1024

/** Hands over the parts of a request's form as they arrive; see `readForm`. Rejects with ApiError or Unavailable. */
export const readParts = async (ctx: Context, maxBytes: number, take: (part: Part) => Promise<void>): Promise<void> => {
  try {
    const boundary = boundaryOf(ctx)
    if ((ctx.request.length ?? 0) > maxBytes) throw tooLarge()
    await readForm(ctx.req, { boundary, maxBytes, tooLarge, take })
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
  if (boundary === undefined)
    throw new Malformed('The Content-Type has no boundary; let your HTTP client set this header')
  return boundary
}

/** Writes the file of a part, up to the largest size of a file in a form. */
export const writeFile = ({ body }: Part, into: Writable): Promise<void> => pipeline(upTo(MAX_INLINE_BYTES, body), into)

async function* upTo(maxBytes: number, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let sizeBytes = 0
  for await (const piece of pieces) {
    sizeBytes += piece.byteLength
    if (sizeBytes > maxBytes) throw tooLarge()
    yield piece
  }
}

/** Reads the text of a part, up to a length at which it is refused. */
export const textOf = async ({ header, body }: Part, maxBytes = MAX_OVERHEAD_BYTES): Promise<string> => {
  const charset = /;\s*charset=\s*"?([^\s";]*)/i.exec(header('content-type') ?? '')?.[1] ?? ''
  if (!isUtf8(charset)) throw notUtf8(charset)
  const pieces: Buffer[] = []
  let sizeBytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    if (sizeBytes < maxBytes) pieces.push(piece)
    sizeBytes += piece.byteLength
  }
  const bytes = Buffer.concat(pieces)
  const text = bytes.byteLength < sizeBytes ? bytes.toString() : decodeUtf8(bytes)
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

/** The error for one part of a form. */
export const invalidPart = (name: string, message: string) => {
  const path = `/${toPointerPart(name)}`.slice(0, 200)
  return new ApiError('invalid_request', `Invalid form: ${path} ${message}.`, {
    errors: [{ path, message }],
  })
}
