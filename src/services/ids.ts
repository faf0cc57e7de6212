import { TypeID, typeid } from 'typeid-js'
import { AccountId, type KeyId, RunId, UploadId, Uuid } from '../../schemas/primitives.ts'
import { compileGuard } from '../engine/validator.ts'

export const newAccountId = () => typeid('acct').toString() as AccountId
export const newKeyId = () => typeid('key').toString() as KeyId
export const newUploadId = () => typeid('upl').toString() as UploadId
export const newRunId = () => typeid('run').toString() as RunId

/** Whether a text has the form of an account id. */
export const isAccountId = compileGuard(AccountId)

/** Whether a text has the form of an upload id. */
export const isUploadId = compileGuard(UploadId)

/** A run id in either of its two forms, `run_…` or the same id as a UUID; undefined for any other text. */
export const parseRunId = (text: string): RunId | undefined => {
  if (isRunId(text)) return text
  const uuid = text.toLowerCase()
  return isUuid(uuid) ? (TypeID.fromUUID('run', uuid).toString() as RunId) : undefined
}

const isRunId = compileGuard(RunId)
const isUuid = compileGuard(Uuid)
