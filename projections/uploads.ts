import { accountOf } from '../schemas/recorded.ts'
import type { UploadRow } from '../schemas/views.ts'
import type { Projection, RecordedOf } from './projection.ts'

/** Uploads by account in time order, which is the order of their keys, and by the place of their file. */
export const uploads: Projection<'uploads'> = {
  view: 'uploads',
  keys: event => {
    const accountId = accountOf(event)
    if (!accountId) return []
    switch (event.type) {
      case 'UploadGranted':
      case 'UploadStored':
      case 'UploadDeletionRequested':
      case 'UploadDeleted':
        return [uploadKey(accountId, event.data.uploadId)]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    switch (event.type) {
      case 'UploadGranted':
        return granted(event)
      case 'UploadStored': {
        const { sizeBytes, sha256, sealed } = event.data
        return row && { ...row, status: 'stored', sizeBytes, sha256, sealed }
      }
      case 'UploadDeletionRequested':
        return row && { ...row, status: 'deleting' }
      case 'UploadDeleted':
        return undefined
      default:
        return row
    }
  },
  indexes: { byObject: row => row.objectKey },
}

/** An account's uploads lie together, so that nobody finds one who does not know whose it is. */
export const uploadKey = (accountId: string, uploadId: string) => `${accountId}/${uploadId}`

const granted = (event: RecordedOf<'UploadGranted'>): UploadRow | undefined => {
  const accountId = accountOf(event)
  const { uploadId, objectKey, filename, folderPath, mimeType, maxSizeBytes, expiresAt, willDeleteAt } = event.data
  return (
    accountId && {
      accountId,
      uploadId,
      status: 'granted',
      objectKey,
      filename,
      ...(folderPath !== undefined && { folderPath }),
      mimeType,
      maxSizeBytes,
      sealed: false,
      createdAt: event.metadata.at,
      expiresAt,
      willDeleteAt,
    }
  )
}
