/** Follows the boxes of an MP4 or QuickTime file as it streams past: ISO/IEC 14496-12, section 4.2. */
export class FilmBoxes {
  readonly #header = Buffer.alloc(LONG_HEADER_BYTES)
  #headerBytes = 0
  /** The bytes of the current box that have not arrived. */
  #leftBytes = 0
  readonly #found = new Set<string>()

  update(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#leftBytes > 0) {
        const passed = Math.min(this.#leftBytes, chunk.length - at)
        this.#leftBytes -= passed
        at += passed
      } else {
        this.#header[this.#headerBytes++] = chunk[at++] as number
        this.#open()
      }
    }
  }

  /**
   * Whether the index and the frames are there and no box is cut off. The last box may state no size, and then extends
   * to the end of the file.
   */
  get isWhole(): boolean {
    const hasEnded = this.#leftBytes === 0 || this.#leftBytes === Number.POSITIVE_INFINITY
    return hasEnded && this.#found.size === NAMES.size
  }

  /** Begins the box whose header has arrived. */
  #open(): void {
    if (this.#headerBytes < SHORT_HEADER_BYTES) return
    const size = this.#header.readUInt32BE(0)
    if (size === IS_LONG && this.#headerBytes < LONG_HEADER_BYTES) return
    const name = this.#header.toString('latin1', 4, 8)
    if (NAMES.has(name)) this.#found.add(name)
    const sizeBytes = size === IS_LONG ? Number(this.#header.readBigUInt64BE(8)) : size
    this.#leftBytes = size === IS_OPEN ? Number.POSITIVE_INFINITY : Math.max(0, sizeBytes - this.#headerBytes)
    this.#headerBytes = 0
  }
}

const SHORT_HEADER_BYTES = 8
const LONG_HEADER_BYTES = 16

// Sizes with a meaning of their own.
const IS_OPEN = 0
const IS_LONG = 1

/** The index and the frames. */
const NAMES = new Set(['moov', 'mdat'])
