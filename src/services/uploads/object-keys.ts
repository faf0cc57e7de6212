import { randomBytes } from 'node:crypto'
import { endingFor } from '../../domain/media-types.ts'
import { type Folder, isObjectKey } from '../../ports/object-store.ts'

/** The place of a new object. It holds 128 random bits, so that its address cannot be guessed. */
export const newObjectKey = (folder: Folder, mimeType: string): string =>
  `${folder}/${randomBytes(16).toString('hex')}.${endingFor(mimeType)}`

export const isUploadKey = (key: string) => isObjectKey(key) && key.startsWith('uploads/' satisfies `${Folder}/`)
