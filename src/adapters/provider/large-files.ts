import { randomBytes } from 'node:crypto'
import type { VendorAnswer, VendorRequest } from '../../ports/vendor-request.ts'
import { base64Length, DATA_URL, decodeInSlices, encodeInSlices, toBase64 } from './base64.ts'
import { assertParseable } from './json-limits.ts'

/** Smaller files are encoded, decoded, written and parsed within a millisecond as part of their documents. */
export const MIN_LARGE_BYTES = 64 * 1024

/** The longest start of a data: URL, and the longest name of a field before it. */
const MAX_LEAD = 256

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The large files of a call, which vendors send and take as Base64 in JSON. Writing and parsing such a document would
 * block all other requests, so only a short document, with a name in place of each file, is written and parsed. The
 * names are random, so neither a client nor a vendor can forge one.
 */
export class LargeFiles {
  readonly #files = new Map<string, Uint8Array>()
  readonly #place: RegExp | undefined

  /** `place` matches the text before the Base64 of a file in a response. Without it, responses have no files. */
  constructor(place?: RegExp) {
    this.#place = place
  }

  /** The Base64 of a file in a request. */
  toBase64(bytes: Uint8Array): string {
    return bytes.byteLength < MIN_LARGE_BYTES ? toBase64(bytes) : this.#add(bytes)
  }

  /** The file in a response. Some servers write a whole data: URL instead of Base64. */
  fromBase64(text: string): Uint8Array {
    const base64 = text.replace(DATA_URL, '')
    return this.#files.get(base64) ?? Buffer.from(base64, 'base64')
  }

  /** Replaces the names in a request with their files. */
  insert(request: VendorRequest): VendorRequest {
    const { headers, body } = request
    if (this.#files.size === 0 || typeof body !== 'string') return request
    const names = new RegExp(`(${[...this.#files.keys()].join('|')})`)
    const pieces = body.split(names).map(piece => this.#files.get(piece) ?? piece)
    const sizes = pieces.map(piece => (typeof piece === 'string' ? Buffer.byteLength(piece) : base64Length(piece)))
    // States the length, since some servers accept no body in chunks.
    const length = String(sizes.reduce((sum, size) => sum + size, 0))
    return { ...request, headers: { ...headers, 'content-length': length }, body: inTurns(pieces) }
  }

  /** Replaces the files in a response with names. Rejects if the remaining document is too long to parse. */
  async extract({ headers, body }: Omit<VendorAnswer, 'status'>): Promise<VendorAnswer['body']> {
    if (body.length <= MIN_LARGE_BYTES || FILE_TYPE.test(headers['content-type'] ?? '')) return body
    const document = this.#place ? await this.#extractFrom(body, this.#place) : body
    await assertParseable(document)
    return document
  }

  /**
   * Looks at the text between two quotes, the first without a backslash. In JSON, this is a whole string, or contains a
   * character that Base64 does not have: a backslash, or the characters between two strings.
   */
  async #extractFrom(document: Buffer<ArrayBuffer>, place: RegExp): Promise<Buffer<ArrayBuffer>> {
    const pieces: Uint8Array[] = []
    let copied = 0
    let quote = document.indexOf(QUOTE)
    while (quote !== -1) {
      const near = document.lastIndexOf(QUOTE, quote + MIN_LARGE_BYTES)
      const end = near > quote ? near : document.indexOf(QUOTE, quote + 1)
      if (end === -1) break
      const start = near > quote ? undefined : fileStart(document, quote, place)
      const file = start && (await decodeInSlices(document.subarray(start, end)))
      if (start && file) {
        pieces.push(document.subarray(copied, start), Buffer.from(this.#add(file)))
        copied = end
      }
      quote = end
    }
    return copied === 0 ? document : Buffer.concat([...pieces, document.subarray(copied)])
  }

  /** The name consists of Base64 characters, for clients that check. */
  #add(bytes: Uint8Array): string {
    const name = randomBytes(16).toString('hex')
    this.#files.set(name, bytes)
    return name
  }
}

/** Types that are not parsed. Some clients parse any other type. */
const FILE_TYPE = /^(image|video|audio|application\/octet-stream)\b/i

/** The start of the Base64 in a string; undefined if the string cannot hold a file. */
const fileStart = (document: Buffer, quote: number, place: RegExp): number | undefined => {
  if (document[quote - 1] === BACKSLASH) return undefined
  const scheme = DATA_URL.exec(document.toString('latin1', quote + 1, quote + 1 + MAX_LEAD))?.[0] ?? ''
  const start = quote + 1 + scheme.length
  const isPlace = (at: number) => place.test(document.toString('latin1', Math.max(0, at - MAX_LEAD), at))
  return isPlace(start) || isPlace(quote + 1) ? start : undefined
}

async function* inTurns(pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield Buffer.from(piece)
    else yield* encodeInSlices(piece)
  }
}
