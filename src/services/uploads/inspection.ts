import { createHash } from 'node:crypto'
import { fileTypeFromBuffer } from 'file-type'
import { commonName } from '../../domain/media-types.ts'
import { PictureEnd } from './picture-end.ts'

/** The bytes that file-type needs to detect every type. */
const HEAD_BYTES = 4_100

/** The directory of a ZIP archive ends with a record of 22 bytes and a comment of at most 65,535 (APPNOTE, 4.3.16). */
const ZIP_END_BYTES = 22
const TAIL_BYTES = ZIP_END_BYTES + 65_535

/** PDF readers look for their marker in this many bytes, and browsers for HTML in about as many. */
const MARK_BYTES = 1_024

export interface InspectionResult {
  sizeBytes: number
  sha256: string
  /** The detected type; undefined if it is unknown. */
  mimeType: string | undefined
  /** A second type that the bytes could pass for. Such files are made to deceive. */
  alsoIs: string | undefined
  /** True if a picture lacks its end. */
  isCutOff: boolean
}

/** Inspects a file as it streams past, and keeps only its two ends. */
export class Inspection {
  readonly #hash = createHash('sha256')
  readonly #head = Buffer.alloc(HEAD_BYTES)
  /** A ring buffer of the last bytes. */
  readonly #ring = Buffer.alloc(TAIL_BYTES)
  readonly #pictureEnd = new PictureEnd()
  #sizeBytes = 0

  update(chunk: Uint8Array) {
    this.#hash.update(chunk)
    this.#pictureEnd.update(chunk)
    if (this.#sizeBytes < HEAD_BYTES) this.#head.set(chunk.subarray(0, HEAD_BYTES - this.#sizeBytes), this.#sizeBytes)
    this.#sizeBytes += chunk.byteLength
    const last = chunk.subarray(-TAIL_BYTES)
    const at = (this.#sizeBytes - last.byteLength) % TAIL_BYTES
    this.#ring.set(last.subarray(0, TAIL_BYTES - at), at)
    this.#ring.set(last.subarray(TAIL_BYTES - at))
  }

  async result(): Promise<InspectionResult> {
    const head = this.#head.subarray(0, this.#sizeBytes)
    const found = await fileTypeFromBuffer(head)
    const mimeType = found && commonName(found.mime)
    const tail = this.#tail()
    return {
      sizeBytes: this.#sizeBytes,
      sha256: this.#hash.digest('hex'),
      mimeType,
      alsoIs: markIn(head) ?? (endsAsZip(tail, this.#sizeBytes) ? 'a ZIP archive' : undefined),
      isCutOff: withEndMarker.has(mimeType) ? !this.#pictureEnd.isFound : isShortWebp(mimeType, head, this.#sizeBytes),
    }
  }

  #tail(): Buffer {
    if (this.#sizeBytes < TAIL_BYTES) return this.#ring.subarray(0, this.#sizeBytes)
    const at = this.#sizeBytes % TAIL_BYTES
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)])
  }
}

/** Inspects a whole stream. */
export const inspect = async (body: AsyncIterable<Uint8Array>): Promise<InspectionResult> => {
  const inspection = new Inspection()
  for await (const chunk of body) inspection.update(chunk)
  return inspection.result()
}

/** Types with an end marker. */
const withEndMarker: ReadonlySet<string | undefined> = new Set(['image/png', 'image/jpeg', 'image/gif'])

/** A WebP file says how long it is. */
const isShortWebp = (mimeType: string | undefined, head: Buffer, sizeBytes: number): boolean =>
  mimeType === 'image/webp' && (head.length < 8 || head.readUInt32LE(4) + 8 > sizeBytes)

const marks: [RegExp, string][] = [
  [/%PDF-/, 'a PDF document'],
  [/<(!doctype html|html|head|body|script|iframe|svg)[\s>/]/i, 'a web page'],
  [/<\?php/i, 'a PHP script'],
]

const markIn = (head: Buffer): string | undefined => {
  const text = head.toString('latin1', 0, MARK_BYTES)
  return marks.find(([mark]) => mark.test(text))?.[1]
}

/**
 * Whether a ZIP directory ends here. Readers ignore data behind it and the length of the comment, but the directory
 * that the record describes must fit before it.
 */
const endsAsZip = (tail: Buffer, sizeBytes: number): boolean => {
  const tailAt = sizeBytes - tail.length
  for (let at = tail.indexOf(ZIP_END); at !== -1; at = tail.indexOf(ZIP_END, at + 1)) {
    if (at + ZIP_END_BYTES > tail.length) return false
    const [directoryBytes, directoryAt] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)]
    if (directoryAt + directoryBytes <= tailAt + at) return true
    // In a ZIP64 archive another record holds these numbers, and the record before this one locates it.
    if (directoryAt === ELSEWHERE || directoryBytes === ELSEWHERE) return true
  }
  return false
}

const ZIP_END = Buffer.from('PK\u0005\u0006')
const ELSEWHERE = 0xffff_ffff
