import { extensionFor } from '../../domain/media-types.ts'
import type { InputMedia } from '../../ports/input-media.ts'
import { ownTurn } from './own-turn.ts'

/** Takes about a millisecond to copy. */
const PART_BYTES = 1024 * 1024

/** A part of a form. Vendors judge it by its name and type. A Blob copies bytes, but not other Blobs. */
export const toUpload = async ({ mimeType, bytes }: InputMedia): Promise<File> => {
  const parts: Blob[] = []
  for (let at = 0; at < bytes.byteLength; at += PART_BYTES) {
    await ownTurn()
    parts.push(new Blob([bytes.subarray(at, at + PART_BYTES) as Uint8Array<ArrayBuffer>]))
  }
  return new File(parts, `file.${extensionFor(mimeType)}`, { type: mimeType })
}
