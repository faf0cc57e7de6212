/** A body is not what multipart/form-data is (RFC 7578, RFC 2046). */
export class Malformed extends Error {
  override name = 'Malformed'
}

/** One part of a form. Its body is read to the end before the next part is asked for; what is left of it is skipped. */
export interface Part {
  /** By their names in lower case. */
  headers: ReadonlyMap<string, string>
  body: AsyncIterable<Buffer>
}

/** Of one part, as the headers of a whole request are limited. */
const MAX_HEADER_BYTES = 16 * 1024

/**
 * The parts of a form as they come in. No more of it is held than one piece and a part's headers, and nothing is done byte
 * by byte, so that no form is dear to read. Throws Malformed.
 */
export async function* partsOf(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const reader = new Reader(body)
  try {
    await skip(reader.until(delimiter))
    while (!(await reader.takes(CLOSE))) {
      const headers = await readHeaders(reader)
      const partBody = reader.until(delimiter)
      yield { headers, body: partBody }
      await skip(partBody)
    }
    // A request that is broken off behind its form is broken off all the same.
    await reader.skipRest()
  } finally {
    await reader.close()
  }
}

const CLOSE = Buffer.from('--')
const END_OF_HEADERS = Buffer.from('\r\n\r\n')

const skip = async (pieces: AsyncIterable<Buffer>) => {
  for await (const _ of pieces);
}

/** What is behind a delimiter, up to the body: the rest of its own line, and then the headers. */
const readHeaders = async (reader: Reader): Promise<Map<string, string>> => {
  const pieces: Buffer[] = []
  let sizeBytes = 0
  for await (const piece of reader.until(END_OF_HEADERS)) {
    sizeBytes += piece.byteLength
    if (sizeBytes > MAX_HEADER_BYTES) throw new Malformed('The headers of a part are too long')
    pieces.push(piece)
  }
  // Only whole, since a character may be split between two pieces.
  const [padding = '', ...lines] = Buffer.concat(pieces)
    .toString()
    .split(/\r\n(?![ \t])/)
  if (padding.trim() !== '') throw new Malformed('The boundary stands inside of a part')
  return new Map(
    lines.map(line => {
      const colon = line.indexOf(':')
      if (colon < 1) throw new Malformed('A header of a part has no name')
      return [
        line.slice(0, colon).toLowerCase(),
        line
          .slice(colon + 1)
          .replaceAll('\r\n', '')
          .trim(),
      ]
    }),
  )
}

class Reader {
  readonly #pieces: AsyncIterator<Buffer>
  /** The first delimiter needs no line before it. */
  #held = Buffer.from('\r\n')

  constructor(body: AsyncIterable<Buffer>) {
    this.#pieces = body[Symbol.asyncIterator]()
  }

  /** What comes before a mark. The mark itself is taken away. */
  async *until(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const found = this.#held.indexOf(mark)
      // Without the mark, what may be its beginning stays.
      const end = found === -1 ? Math.max(this.#held.length - mark.length + 1, 0) : found
      const piece = this.#held.subarray(0, end)
      this.#held = this.#held.subarray(found === -1 ? end : end + mark.length)
      if (piece.length > 0) yield piece
      if (found !== -1) return
      await this.#more()
    }
  }

  /** Whether a mark comes next. If so, it is taken away. */
  async takes(mark: Buffer): Promise<boolean> {
    while (this.#held.length < mark.length) await this.#more()
    if (!this.#held.subarray(0, mark.length).equals(mark)) return false
    this.#held = this.#held.subarray(mark.length)
    return true
  }

  async skipRest() {
    while (!(await this.#pieces.next()).done);
  }

  async close() {
    await this.#pieces.return?.()
  }

  async #more() {
    const { value, done } = await this.#pieces.next()
    if (done) throw new Malformed('The body ends before the form does')
    this.#held = Buffer.concat([this.#held, value])
  }
}
