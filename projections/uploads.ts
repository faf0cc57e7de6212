import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { UploadRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/** Uploads by account in time order, which is the order of their keys, and by the place of their file. */
export const uploads = projection({
  view: 'uploads',
  version: 3,
  key: event => uploadKey(accountOf(event), event.data.uploadId),
  on: {
    UploadGranted: (_, event) => granted(event),
    UploadStored: (row, { data: { sizeBytes, sha256, sealed } }) =>
      row && { ...row, status: 'stored', sizeBytes, sha256, sealed },
    UploadDeletionRequested: row => row && { ...row, status: 'deleting' },
    UploadDeleted: () => undefined,
  },
  indexes: {
    byId: ({ uploadId }) => uploadId,
    byObject: row => row.objectKey,
    ofTests: ({ livemode }, key) => (livemode === false ? key : undefined),
  },
})

/** The account comes first, so that the uploads of an account lie together and only its callers find them. */
export const uploadKey = (accountId: string, uploadId: string) => `${accountId}/${uploadId}`

const granted = (event: RecordedOf<'UploadGranted'>): UploadRow => {
  const { uploadId, livemode, objectKey, filename, folderPath, mimeType, ...rest } = event.data
  const { maxSizeBytes, expiresAt, willDeleteAt } = rest
  return {
    accountId: accountOf(event),
    uploadId,
    ...(livemode === false && { livemode }),
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
