import type { AccountEvent, UploadDeleted, UploadStored } from '../../../schemas/account-events.ts'
import { type KeyId, MAX_LIVE_UPLOADS, type UploadId } from '../../../schemas/primitives.ts'
import { accept } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { GrantUpload } from './commands.ts'
import { writeRefusal } from './keys.ts'
import type { AccountState } from './state.ts'

export const grant = ({ keyId, upload }: GrantUpload, state: AccountState): Decided<AccountEvent> => {
  const refusal = writeRefusal(keyId, state)
  if (refusal) return refusal
  if (state.uploads.has(upload.uploadId)) return refuse('upload_exists')
  if (state.uploads.size >= MAX_LIVE_UPLOADS) return refuse('too_many_uploads', { limit: MAX_LIVE_UPLOADS })
  return accept([{ type: 'UploadGranted', data: upload }])
}

/** A file is recorded as stored when it is first used, and again as sealed once it can no longer be replaced. */
export const store = (
  { keyId, upload }: { keyId?: KeyId | undefined; upload: UploadStored },
  state: AccountState,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(keyId, state)
  if (refusal) return refusal
  const stage = state.uploads.get(upload.uploadId)?.stage
  if (stage === undefined || stage === 'deleting') return refuse('upload_not_found')
  if (stage === 'sealed' || (stage === 'stored' && !upload.sealed)) return refuse('upload_already_stored')
  return accept([{ type: 'UploadStored', data: upload }])
}

export const requestDeletion = (
  { keyId, uploadId }: { keyId?: KeyId | undefined; uploadId: UploadId },
  state: AccountState,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(keyId, state)
  if (refusal) return refusal
  const stage = state.uploads.get(uploadId)?.stage
  if (stage === undefined) return refuse('upload_not_found')
  return accept(stage === 'deleting' ? [] : [{ type: 'UploadDeletionRequested', data: { uploadId } }])
}

/** Records that an upload's file was deleted. */
export const recordDeletion = ({ upload }: { upload: UploadDeleted }, state: AccountState): Decided<AccountEvent> =>
  state.uploads.has(upload.uploadId) ? accept([{ type: 'UploadDeleted', data: upload }]) : refuse('upload_not_found')
