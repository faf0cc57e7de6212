import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { UploadRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/** Uploads by account in time order, which is the order of their keys, and by the place of their file. */
export const uploads = projection({
  view: 'uploads',
  version: 1,
  key: event => uploadKey(accountOf(event), event.data.uploadId),
  on: {
    UploadGranted: (_, event) => granted(event),
    UploadStored: (row, { data: { sizeBytes, sha256, sealed } }) =>
      row && { ...row, status: 'stored', sizeBytes, sha256, sealed },
    UploadDeletionRequested: row => row && { ...row, status: 'deleting' },
    UploadDeleted: () => undefined,
  },
  indexes: { byObject: row => row.objectKey },
})

/** An account's uploads lie together, so an upload is found only by those who know its account. */
export const uploadKey = (accountId: string, uploadId: string) => `${accountId}/${uploadId}`

const granted = (event: RecordedOf<'UploadGranted'>): UploadRow => {
  const { uploadId, objectKey, filename, folderPath, mimeType, maxSizeBytes, expiresAt, willDeleteAt } = event.data
  return {
    accountId: accountOf(event),
    uploadId,
    status: 'granted',
    objectKey,
    filename,
    ...(folderPath !== undefined && { folderPath }),
    mimeType,
    maxSizeBytes,
    sealed: false,
    createdAt: clockOf(event),
    expiresAt,
    willDeleteAt,
  }
}
