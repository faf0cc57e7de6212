import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { TSchema } from 'typebox'
import { ETag, IfNoneMatch } from '../../../schemas/api/headers.ts'
import type { Context } from '../context.ts'
import type { ResponseSpec } from '../operation.ts'

/**
 * A body that is the same for every request. It is compressed once, and clients that hold the current version get 304.
 */
export class StaticBody {
  readonly #type: string
  readonly #plain: Encoded
  #zipped: Promise<Encoded> | undefined

  constructor(type: string, content: string | Uint8Array) {
    this.#type = type
    this.#plain = encoded(Buffer.from(content))
  }

  async answer(ctx: Context): Promise<void> {
    const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
    const { bytes, etag } = isZipped ? await this.#zip() : this.#plain
    ctx.status = 200
    ctx.vary('Accept-Encoding')
    ctx.set('ETag', etag)
    if (holds(ctx, etag)) {
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

/** Static bodies of JSON. The key of a body covers everything that determines the body. */
export class StaticBodies {
  readonly #bodies = new LRUCache<string, StaticBody>({ max: MAX_BODIES })

  get(key: string, make: () => object): StaticBody {
    const body = this.#bodies.get(key) ?? new StaticBody('application/json', JSON.stringify(make()))
    this.#bodies.set(key, body)
    return body
  }
}

/** Several times the number of families and output types, for testers and others. A full list takes about 100 KB. */
const MAX_BODIES = 200

/** The request headers and responses of operations with such a body. */
export const staticHeaders = { 'If-None-Match': IfNoneMatch }
export const staticResponses = (
  description: string,
  shape: TSchema,
  { type = 'application/json', examples, headers }: Pick<ResponseSpec, 'type' | 'examples' | 'headers'> = {},
) => ({
  200: { description, shape, type, ...(examples && { examples }), headers: { ETag, ...headers } },
  304: { description: 'The client holds the current version.', headers: { ETag, ...headers } },
})

/**
 * Whether the client holds this version. `ctx.fresh` denies it to scripts, as their `fetch` sends
 * `Cache-Control: no-cache` with every `If-None-Match`.
 */
const holds = (ctx: Context, etag: string): boolean =>
  ctx
    .get('If-None-Match')
    .split(',')
    .map(tag => tag.trim().replace(/^W\//, ''))
    .some(tag => tag === etag || tag === '*')

interface Encoded {
  bytes: Buffer
  /** The ETag of these bytes: a strong one also depends on the encoding (RFC 9110, section 8.8.3). */
  etag: string
}

const encoded = (bytes: Buffer): Encoded => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url')}"`,
})
