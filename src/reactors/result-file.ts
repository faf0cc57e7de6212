import { createHash } from 'node:crypto'
import { type Artifact, MAX_MIME_TYPE_LENGTH } from '../../schemas/account-events.ts'
import { essenceOf, hasExtension } from '../domain/media-types.ts'
import { FileHead } from '../services/uploads/file-head.ts'

/** A result that cannot be kept. The message is shown to the client. */
export class UnfitResult extends Error {
  override name = 'UnfitResult'
}

/** Measures a file of a result as it streams past. */
export class ResultFile {
  readonly #hash = createHash('sha256')
  readonly #head = new FileHead()

  update(chunk: Uint8Array) {
    this.#hash.update(chunk)
    this.#head.update(chunk)
  }

  /**
   * The file's facts, with the type that its bytes show, or else the one that the provider states. Rejects with
   * UnfitResult for a file without bytes and for a document.
   */
  async facts(statedType: string): Promise<Omit<Artifact, 'objectKey'>> {
    const { sizeBytes, bytes, mark } = this.#head
    if (sizeBytes === 0) throw new UnfitResult('The provider returned an empty file.')
    const found = await this.#head.mimeType()
    if (found === undefined ? mark !== undefined || isMarkup(bytes) : !isMedia(found))
      throw new UnfitResult('The provider returned a document instead of an image, video or sound.')
    return { mimeType: typeOf(found, essenceOf(statedType)), sizeBytes, sha256: this.#hash.digest('hex') }
  }
}

const isMedia = (mimeType: string) => /^(image|video|audio)\/|^application\/ogg$/.test(mimeType)

/** The most useful of both. A file of a type without an extension is only ever downloaded. */
const typeOf = (found: string | undefined, stated: string): string => {
  const isType = stated.length <= MAX_MIME_TYPE_LENGTH && /^[\w.+-]+\/[\w.+-]+$/.test(stated)
  const types = [found, isType ? stated : undefined].filter(type => type !== undefined)
  return types.find(hasExtension) ?? types[0] ?? 'application/octet-stream'
}

/** Whether these are the first bytes of a page or of JSON, such as an error that was sent with the status 200. */
const isMarkup = (bytes: Uint8Array): boolean => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return /^\s*[<{]/.test(text) && !/[^\P{Cc}\s]/u.test(text)
  } catch {
    return false
  }
}
