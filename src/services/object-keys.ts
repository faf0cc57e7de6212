import { randomBytes } from 'node:crypto'
import { extensionFor } from '../domain/media-types.ts'
import { type Folder, isObjectKey } from '../ports/object-store.ts'

/** The key of a new object. It contains 128 random bits, so that its address cannot be guessed. */
export const newObjectKey = (folder: Folder, mimeType: string): string =>
  `${folder}/${randomBytes(16).toString('hex')}.${extensionFor(mimeType)}`

export const isUploadKey = (key: string) => isObjectKey(key) && key.startsWith('uploads/' satisfies `${Folder}/`)
