import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { TSchema } from 'typebox'
import { ETag, IfNoneMatch } from '../../schemas/api/headers.ts'
import type { Context } from './context.ts'

/** A body that is the same at every request: it is compressed once, and who has it already is not sent it again. */
export class StaticBody {
  readonly #type: string
  readonly #plain: Encoded
  #zipped: Promise<Encoded> | undefined

  constructor(type: string, text: string) {
    this.#type = type
    this.#plain = encoded(Buffer.from(text))
  }

  async answer(ctx: Context): Promise<void> {
    const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
    const { bytes, etag } = isZipped ? await this.#zip() : this.#plain
    ctx.status = 200
    ctx.vary('Accept-Encoding')
    ctx.set('ETag', etag)
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.type = this.#type
    if (isZipped) ctx.set('Content-Encoding', 'gzip')
    ctx.body = bytes
  }

  #zip(): Promise<Encoded> {
    this.#zipped ??= promisify(gzip)(this.#plain.bytes).then(encoded)
    return this.#zipped
  }
}

/** What an operation takes and promises that is answered with such a body. */
export const staticHeaders = { 'If-None-Match': IfNoneMatch }
export const staticAnswers = (description: string, shape: TSchema, type = 'application/json') => ({
  200: { description, shape, type, headers: { ETag } },
  304: { description: 'It is still the one that the client has.', headers: { ETag } },
})

interface Encoded {
  bytes: Buffer
  /** That of these bytes: a strong one names an encoding too (RFC 9110, 8.8.3). */
  etag: string
}

const encoded = (bytes: Buffer): Encoded => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
})
