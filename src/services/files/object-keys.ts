import { extensionFor } from '../../domain/media-types.ts'
import { type Folder, isObjectKey } from '../../ports/object-store.ts'
import type { Random } from '../../ports/random.ts'

/** The key of a new upload. It contains 128 random bits, so that its address cannot be guessed. */
export const newUploadKey = (random: Random, mimeType: string): string =>
  `${'uploads' satisfies Folder}/${random.hex(16)}.${extensionFor(mimeType)}`

export const isUploadKey = (key: string) => isObjectKey(key) && key.startsWith('uploads/' satisfies `${Folder}/`)
