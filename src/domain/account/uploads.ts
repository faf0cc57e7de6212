import type { AccountEvent, UploadDeleted, UploadStored } from '../../../schemas/account-events.ts'
import { type KeyId, MAX_LIVE_UPLOADS, type UploadId } from '../../../schemas/primitives.ts'
import { accept } from '../decider.ts'
import { type Decided, type RefusalOf, refuse } from '../refusal.ts'
import { suspensionRefusal } from './access.ts'
import type { CallerMode, GrantUpload, RequestUploadDeletion } from './commands.ts'
import { isWithinMode, modeOf, writeRefusal } from './keys.ts'
import type { AccountState } from './state.ts'

export const grantUpload = (
  { upload, quotaBytes, ...caller }: GrantUpload & CallerMode,
  state: AccountState,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(caller.keyId, state)
  if (refusal) return refusal
  if (state.uploads.has(upload.uploadId)) return refuse('upload_exists')
  if (state.uploads.size >= MAX_LIVE_UPLOADS) return refuse('too_many_uploads', { limit: MAX_LIVE_UPLOADS })
  if (state.uploadBytes + upload.maxSizeBytes > quotaBytes) return refuse('upload_quota_exceeded', { quotaBytes })
  return accept([{ type: 'UploadGranted', data: { ...upload, ...modeOf(caller, state) } }])
}

/** Why no file may be sent to a presigned address now; undefined if one may. */
export const sendRefusal = (
  { keyId, uploadId }: { keyId: KeyId | undefined; uploadId: UploadId },
  state: AccountState,
): RefusalOf<'put_address_withdrawn' | 'account_suspended'> | undefined => {
  const suspended = suspensionRefusal(state)
  if (suspended) return suspended
  const isReplaceable = hasPlace(uploadId, state) && state.uploads.get(uploadId)?.stage !== 'sealed'
  return isReplaceable && !writeRefusal(keyId, state) ? undefined : { code: 'put_address_withdrawn' }
}

/** Whether an upload may have a file: it is not deleted, and its owner has not asked for that. */
export const hasPlace = (uploadId: UploadId, { uploads }: AccountState): boolean =>
  (uploads.get(uploadId)?.stage ?? 'deleting') !== 'deleting'

/** Whether a file was sent to an address after the key that asked for it had been revoked. Times as in ObjectFacts. */
export const isLate = (uploadId: UploadId, storedAtMs: number | undefined, { uploads }: AccountState): boolean => {
  const withdrawnAtMs = uploads.get(uploadId)?.withdrawnAtMs
  return withdrawnAtMs !== undefined && storedAtMs !== undefined && storedAtMs + 1000 > withdrawnAtMs
}

/** A file is recorded as stored when it is first used, and again as sealed once it can no longer be replaced. */
export const storeUpload = (
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

export const requestUploadDeletion = (
  { uploadId, unlessStored = false, ...caller }: Omit<RequestUploadDeletion, 'type'> & CallerMode,
  state: AccountState,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(caller.keyId, state)
  if (refusal) return refusal
  const upload = state.uploads.get(uploadId)
  if (!upload || !isWithinMode(caller, upload, state)) return refuse('upload_not_found')
  const { stage } = upload
  if (unlessStored && (stage === 'stored' || stage === 'sealed')) return refuse('upload_already_stored')
  return accept(stage === 'deleting' ? [] : [{ type: 'UploadDeletionRequested', data: { uploadId } }])
}

/** Records that an upload's file was deleted, or never arrived. */
export const recordUploadDeletion = (
  { upload }: { upload: UploadDeleted },
  state: AccountState,
): Decided<AccountEvent> => {
  const stage = state.uploads.get(upload.uploadId)?.stage
  if (stage === undefined) return refuse('upload_not_found')
  if (stage === 'sealed' && upload.reason === 'never_sent') return refuse('upload_already_stored')
  return accept([{ type: 'UploadDeleted', data: upload }])
}
