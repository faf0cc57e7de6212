import { type Artifact, type C2pa, MAX_MIME_TYPE_LENGTH } from '../../../schemas/account-events.ts'
import type { FileType } from '../../domain/catalog/family.ts'
import { essenceOf, hasExtension } from '../../domain/media-types.ts'
import { FileHead } from '../../services/uploads/file-head.ts'
import { Inspection } from '../../services/uploads/inspection.ts'
import { acceptedOf } from '../../services/uploads/upload-rules.ts'

/** A result that cannot be kept. The message is shown to the client. */
export class UnfitResult extends Error {
  override name = 'UnfitResult'
}

/** Samples without a header. Their bytes show no type: any file that is large enough may be sound. */
const RAW_SOUND = /^audio\/(pcm|l16|basic)$/

/** A tenth of a second of the smallest samples: 8,000 bytes a second. */
const MIN_RAW_BYTES = 800

/** Any sound file has more: a header, and some frames of a hundredth of a second. */
const MIN_SOUND_BYTES = 100

/** A larger length means an unknown one: programs write it before they know how long their sound will be. */
const MAX_RIFF_BYTES = 0x7fff_0000

/** Measures a file of a result as it streams past. */
export class ResultFile {
  readonly #inspection = new Inspection()
  readonly #head = new FileHead()
  readonly #boxes = new FilmBoxes()
  readonly #c2pa = new C2paMark()

  update(chunk: Uint8Array) {
    this.#inspection.update(chunk)
    this.#head.update(chunk)
    this.#boxes.update(chunk)
    this.#c2pa.update(chunk)
  }

  /**
   * The file's facts, if its bytes are a whole file of the promised type. Otherwise rejects with UnfitResult, because
   * providers also send error messages, and only the first bytes of files, with the status 200.
   */
  async facts(statedType: string, promised: FileType): Promise<Omit<Artifact, 'objectKey'>> {
    const { sizeBytes, sha256, mimeType: found, isCutOff } = await this.#inspection.result()
    if (sizeBytes === 0) throw new UnfitResult('The provider returned an empty file.')
    const stated = essenceOf(statedType)
    const isRaw = found === undefined && promised === 'audio' && RAW_SOUND.test(stated)
    if (isText(this.#head.bytes) || !(isRaw || isOfType[promised](found ?? '')))
      throw new UnfitResult(`The provider returned ${this.#nameOf(found)} instead of ${names[promised]}.`)
    if (isRaw ? !isWholeRaw(stated, sizeBytes) : isCutOff || this.#isCutOff(found ?? ''))
      throw new UnfitResult(`The provider returned ${names[promised]} that is not complete.`)
    return { mimeType: typeOf(found, stated, promised), sizeBytes, sha256, c2pa: this.#c2pa.presence }
  }

  #isCutOff(found: string): boolean {
    const { bytes, sizeBytes } = this.#head
    if (found === 'video/mp4' || found === 'video/quicktime') return !this.#boxes.isWhole
    if (!found.startsWith('audio/')) return false
    return sizeBytes < MIN_SOUND_BYTES || (found === 'audio/wav' && isShortWav(bytes, sizeBytes))
  }

  #nameOf(found: string | undefined): string {
    if (isText(this.#head.bytes)) return 'a text'
    return found === undefined ? 'a file of an unknown type' : `a file of the type ${found}`
  }
}

const names: Record<FileType, string> = { image: 'an image', video: 'a video', audio: 'a sound' }

const isOfType: Record<FileType, (found: string) => boolean> = {
  image: found => acceptedOf('image').includes(found),
  video: found => found.startsWith('video/'),
  audio: found => found.startsWith('audio/') || found === 'application/ogg',
}

/** The most useful name of the type. A file of a type without an extension is only ever downloaded. */
const typeOf = (found: string | undefined, stated: string, promised: FileType): string => {
  const isType = stated.length <= MAX_MIME_TYPE_LENGTH && /^[\w.+-]+\/[\w.+-]+$/.test(stated)
  const isSame = isType && stated.startsWith(`${promised}/`) && !(found && hasExtension(found))
  const types = [found, isSame ? stated : undefined].filter(type => type !== undefined)
  return types.find(hasExtension) ?? types[0] ?? 'application/octet-stream'
}

/** Whether these are the first bytes of a text. Media files have other bytes, such as zeros or invalid UTF-8. */
const isText = (bytes: Uint8Array): boolean => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return !/[^\P{Cc}\s]/u.test(text)
  } catch {
    return false
  }
}

/** A sample has two bytes, or one with `audio/basic`, which telephones use. */
const isWholeRaw = (stated: string, sizeBytes: number): boolean =>
  sizeBytes >= MIN_RAW_BYTES && (stated === 'audio/basic' || sizeBytes % 2 === 0)

const isShortWav = (head: Buffer, sizeBytes: number): boolean => {
  const length = head.readUInt32LE(4)
  return length <= MAX_RIFF_BYTES && length + 8 > sizeBytes
}

/**
 * Looks for a C2PA manifest in a file as it streams past. In every format, a manifest store is a box that begins with
 * this name and type: C2PA specification 2.1, section 11.1.4. The manifest is not verified.
 */
export class C2paMark {
  #isFound = false
  /** The last bytes, in which the mark may have begun. */
  #end: Uint8Array = Buffer.alloc(0)

  get presence(): C2pa {
    return this.#isFound ? 'present' : 'absent'
  }

  update(chunk: Uint8Array): void {
    if (this.#isFound) return
    const { buffer, byteOffset, byteLength } = chunk
    const seam = Buffer.concat([this.#end, chunk.subarray(0, MARK.length - 1)])
    this.#isFound = seam.includes(MARK) || Buffer.from(buffer, byteOffset, byteLength).includes(MARK)
    this.#end = (byteLength < MARK.length ? seam : Buffer.from(chunk.subarray(1 - MARK.length))).subarray(
      1 - MARK.length,
    )
  }
}

const MARK = Buffer.from('6a756d64' + '63327061' + '00110010800000aa00389b71', 'hex')

/** Follows the boxes of an MP4 or QuickTime file as it streams past: ISO/IEC 14496-12, section 4.2. */
class FilmBoxes {
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
