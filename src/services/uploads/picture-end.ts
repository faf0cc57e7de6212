/**
 * Finds the end of a streamed picture, after its size and pixels. Follows the structure of the file, because end
 * markers also occur in thumbnails and in films behind the picture.
 */
export class PictureEnd {
  #reader: Reader | undefined
  #want: Want | undefined
  /** The requested bytes that have arrived. */
  #seen: number[] = []
  #isFound = false
  #steps = 0

  /** False for every other format. */
  get isFound(): boolean {
    return this.#isFound || (this.#want?.mayEnd === true && this.#want.skip === 0 && this.#seen.length === 0)
  }

  update(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#isFound) return
    if (!this.#reader) this.#begin(chunk[0] as number)
    for (let at = 0; at < chunk.length && this.#want; ) {
      const { skip, see } = this.#want
      const from = Math.min(at + skip, chunk.length)
      this.#want.skip -= from - at
      at = from
      if (this.#want.skip > 0) return
      at = see === 'marker' ? this.#seeMarker(chunk, at) : this.#see(chunk, at, see)
    }
  }

  #begin(firstByte: number): void {
    this.#reader = (readers[firstByte] ?? neverEnding)()
    this.#proceed()
  }

  #see(chunk: Uint8Array, from: number, count: number): number {
    let at = from
    while (at < chunk.length && this.#seen.length < count) this.#seen.push(chunk[at++] as number)
    if (this.#seen.length === count) this.#proceed()
    return at
  }

  /** Like a decoder, skips fill bytes, stuffed bytes, restarts of a scan, and garbage between segments. */
  #seeMarker(chunk: Uint8Array, from: number): number {
    let isMarked = this.#seen.length > 0
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (isMarked && startsSegment(byte)) {
        this.#seen = [byte]
        this.#proceed()
        return at + 1
      }
      isMarked = byte === 0xff
    }
    this.#seen = isMarked ? [0xff] : []
    return chunk.length
  }

  #proceed(): void {
    if (++this.#steps > MAX_STEPS) this.#reader = neverEnding()
    const { value, done } = this.#reader?.next(this.#seen) ?? {}
    this.#seen = []
    this.#want = value ?? undefined
    this.#isFound = done === true
  }
}

/** The number of bytes to skip, and the bytes to read next: a number of them, or the next marker of a JPEG. */
interface Want {
  skip: number
  see: number | 'marker'
  /** Whether the picture may end before these bytes. */
  mayEnd?: boolean
}

/** Yields requests for bytes and receives them. Returns at the end of the picture. */
type Reader = Generator<Want, void, number[]>

/** The readers by the first byte of the format. */
const readers: Partial<Record<number, () => Reader>> = { 137: png, 255: jpeg, 71: gif, 0: avif }

function* png(): Reader {
  let hasPixels = false
  for (let skip = 8; ; ) {
    const head = Buffer.from(yield { skip, see: 8 })
    const type = head.toString('latin1', 4)
    if (type === 'IEND') return hasPixels ? undefined : yield* neverEnding()
    hasPixels ||= type === 'IDAT'
    skip = head.readUInt32BE(0) + 4
    if (type !== 'IHDR') continue
    const size = Buffer.from(yield { skip: 0, see: 8 })
    if (size.readUInt32BE(0) === 0 || size.readUInt32BE(4) === 0) yield* neverEnding()
    skip = Math.max(0, skip - 8)
  }
}

function* jpeg(): Reader {
  let hasPixels = false
  for (let skip = 2; ; ) {
    const [marker] = yield { skip, see: 'marker' }
    if (marker === 0xd9) return hasPixels ? undefined : yield* neverEnding()
    hasPixels ||= marker === SCAN
    const length = Buffer.from(yield { skip: 0, see: 2 }).readUInt16BE()
    skip = Math.max(0, length - 2)
  }
}

/** The marker before the pixels of a JPEG. */
const SCAN = 0xda

/** Restarts and one temporary marker have no segment. The end of the image needs none. */
const startsSegment = (byte: number) => byte > 0x01 && byte < 0xff && (byte & 0xf8) !== 0xd0

function* gif(): Reader {
  const [flags = 0] = yield { skip: 10, see: 1 }
  let hasPixels = false
  for (let skip = 2 + colourTableLength(flags); ; skip = 0) {
    const [block] = yield { skip, see: 1 }
    if (block === 0x3b) return hasPixels ? undefined : yield* neverEnding()
    hasPixels ||= block === 0x2c
    if (block === 0x21) yield* gifBlocks(1)
    else if (block === 0x2c) {
      const [frameFlags = 0] = yield { skip: 8, see: 1 }
      yield* gifBlocks(colourTableLength(frameFlags) + 1)
    } else yield* neverEnding()
  }
}

/** Each block starts with its length. An empty block ends the sequence. */
function* gifBlocks(before: number): Reader {
  for (let skip = before; ; ) {
    const [length = 0] = yield { skip, see: 1 }
    if (length === 0) return
    skip = length
  }
}

const colourTableLength = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0)

/** Boxes (ISO/IEC 14496-12). One describes the picture, and usually another holds its data. */
function* avif(): Reader {
  const kinds = new Set<string>()
  let skip = 0
  while (!kinds.has('meta') || !kinds.has('mdat')) {
    const head = Buffer.from(yield { skip, see: 8, mayEnd: kinds.has('meta') })
    const isLong = head.readUInt32BE() === 1
    const length = isLong ? Number(Buffer.from(yield { skip: 0, see: 8 }).readBigUInt64BE()) : head.readUInt32BE()
    // This box extends to the end of the file.
    if (length === 0) return
    skip = length - (isLong ? 16 : 8)
    if (skip < 0) yield* neverEnding()
    kinds.add(head.toString('latin1', 4))
  }
  if (skip > 0) yield { skip: skip - 1, see: 1 }
}

function* neverEnding(): Reader {
  yield { skip: Number.POSITIVE_INFINITY, see: 1 }
}

// Keeps a file that consists only of lengths from occupying the service for seconds. A GIF of 50 MB, in blocks of 255
// bytes, has a fifth of this; other pictures have fewer.
const MAX_STEPS = 1_000_000
