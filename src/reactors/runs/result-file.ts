import { type Artifact, MAX_MIME_TYPE_LENGTH } from '../../../schemas/account-events.ts'
import type { FileType } from '../../domain/catalog/family.ts'
import { essenceOf, hasExtension } from '../../domain/media-types.ts'
import { FileHead } from '../../services/uploads/file-head.ts'
import { Inspection } from '../../services/uploads/inspection.ts'
import { acceptedOf } from '../../services/uploads/upload-rules.ts'
import { C2paMark } from './c2pa-mark.ts'
import { FilmBoxes } from './film-boxes.ts'

/** A result that cannot be kept. The message is shown to the client. */
export class UnfitResult extends Error {
  override name = 'UnfitResult'
}

/** Samples without a header. Their bytes show no type: whatever is large enough may be sound. */
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
   * The file's facts, if its bytes are those of a whole file of the promised type. Rejects with UnfitResult otherwise:
   * providers send error messages and the first bytes of files with the status 200 too.
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
