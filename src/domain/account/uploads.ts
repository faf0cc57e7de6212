import type { AccountEvent, UploadDeleted, UploadStored } from '../../../schemas/account-events.ts'
import { MAX_LIVE_UPLOADS, type UploadId } from '../../../schemas/primitives.ts'
import { accept, type Decision, refuse } from '../decider.ts'
import type { GrantUpload } from './commands.ts'
import type { AccountState } from './state.ts'

export const grant = ({ keyId, upload }: GrantUpload, state: AccountState): Decision<AccountEvent> => {
  if (!state.activeKeys.has(keyId)) return refuse('key_not_found')
  if (state.uploads.has(upload.uploadId)) return refuse('upload_exists')
  if (state.uploads.size >= MAX_LIVE_UPLOADS) return refuse('too_many_uploads', { limit: MAX_LIVE_UPLOADS })
  return accept([{ type: 'UploadGranted', data: upload }])
}

/** A file counts as stored when it is used first, and once more, for good, when nobody can replace it any longer. */
export const store = ({ upload }: { upload: UploadStored }, state: AccountState): Decision<AccountEvent> => {
  const stage = state.uploads.get(upload.uploadId)
  if (stage === undefined || stage === 'deleting') return refuse('upload_not_found')
  if (stage === 'sealed' || (stage === 'stored' && !upload.sealed)) return refuse('upload_already_stored')
  return accept([{ type: 'UploadStored', data: upload }])
}

export const requestDeletion = ({ uploadId }: { uploadId: UploadId }, state: AccountState): Decision<AccountEvent> => {
  const stage = state.uploads.get(uploadId)
  if (stage === undefined) return refuse('upload_not_found')
  return accept(stage === 'deleting' ? [] : [{ type: 'UploadDeletionRequested', data: { uploadId } }])
}

/** The file is gone already. */
export const recordDeletion = ({ upload }: { upload: UploadDeleted }, state: AccountState): Decision<AccountEvent> =>
  state.uploads.has(upload.uploadId) ? accept([{ type: 'UploadDeleted', data: upload }]) : refuse('upload_not_found')
