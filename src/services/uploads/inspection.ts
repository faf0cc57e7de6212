import { createHash } from 'node:crypto'
import { FileHead } from './file-head.ts'
import { PictureEnd } from './picture-end.ts'

/** The directory of a ZIP archive ends with a record of 22 bytes and a comment of at most 65,535 (APPNOTE, 4.3.16). */
const ZIP_END_BYTES = 22
const TAIL_BYTES = ZIP_END_BYTES + 65_535

export interface InspectionResult {
  sizeBytes: number
  sha256: string
  /** The detected type; undefined if it is unknown. */
  mimeType: string | undefined
  /** A second type that the bytes could pass for. Such files are made to deceive. */
  alsoIs: string | undefined
  /** Whether a picture lacks its end. */
  isCutOff: boolean
}

/** Inspects a streamed file. Keeps only its first and last bytes. */
export class Inspection {
  readonly #hash = createHash('sha256')
  readonly #head = new FileHead()
  /** A ring buffer of the last bytes. */
  readonly #ring = Buffer.alloc(TAIL_BYTES)
  readonly #pictureEnd = new PictureEnd()

  update(chunk: Uint8Array) {
    this.#hash.update(chunk)
    this.#pictureEnd.update(chunk)
    this.#head.update(chunk)
    const last = chunk.subarray(-TAIL_BYTES)
    const at = (this.#head.sizeBytes - last.byteLength) % TAIL_BYTES
    this.#ring.set(last.subarray(0, TAIL_BYTES - at), at)
    this.#ring.set(last.subarray(TAIL_BYTES - at))
  }

  async result(): Promise<InspectionResult> {
    const { sizeBytes, bytes: head, mark } = this.#head
    const mimeType = await this.#head.mimeType()
    return {
      sizeBytes,
      sha256: this.#hash.digest('hex'),
      mimeType,
      alsoIs: mark ?? (endsAsZip(this.#tail(), sizeBytes) ? 'a ZIP archive' : undefined),
      isCutOff: withEnd.has(mimeType) ? !this.#pictureEnd.isFound : isShortWebp(mimeType, head, sizeBytes),
    }
  }

  #tail(): Buffer {
    const { sizeBytes } = this.#head
    if (sizeBytes < TAIL_BYTES) return this.#ring.subarray(0, sizeBytes)
    const at = sizeBytes % TAIL_BYTES
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)])
  }
}

/** Inspects a whole stream. */
export const inspect = async (body: AsyncIterable<Uint8Array>): Promise<InspectionResult> => {
  const inspection = new Inspection()
  for await (const chunk of body) inspection.update(chunk)
  return inspection.result()
}

/** Types whose structure shows the end of the file. */
const withEnd: ReadonlySet<string | undefined> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/avif'])

/** A WebP file states its length. */
const isShortWebp = (mimeType: string | undefined, head: Buffer, sizeBytes: number): boolean =>
  mimeType === 'image/webp' && (head.length < 8 || head.readUInt32LE(4) + 8 > sizeBytes)

/**
 * Whether a ZIP directory ends here. Readers ignore the length of the comment and any data after it, but the directory
 * that the record describes must fit before the record.
 */
const endsAsZip = (tail: Buffer, sizeBytes: number): boolean => {
  const tailAt = sizeBytes - tail.length
  for (let at = tail.indexOf(ZIP_END); at !== -1; at = tail.indexOf(ZIP_END, at + 1)) {
    if (at + ZIP_END_BYTES > tail.length) return false
    const [directoryBytes, directoryAt] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)]
    if (directoryAt + directoryBytes <= tailAt + at) return true
    // In a ZIP64 archive, another record holds these numbers. The record before this one locates it.
    if (directoryAt === ELSEWHERE || directoryBytes === ELSEWHERE) return true
  }
  return false
}

const ZIP_END = Buffer.from('PK\u0005\u0006')
const ELSEWHERE = 0xffff_ffff
