import { TypeID, typeid } from 'typeid-js'
import type { AccountId, KeyId, RunId } from '../../schemas/primitives.ts'

export const newAccountId = () => typeid('acct').toString() as AccountId
export const newKeyId = () => typeid('key').toString() as KeyId
export const newRunId = () => typeid('run').toString() as RunId

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const RUN_ID = /^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** A run id in either of its two forms, `run_…` or the same id as a UUID; undefined for any other text. */
export const parseRunId = (text: string): RunId | undefined => {
  if (RUN_ID.test(text)) return text as RunId
  return UUID.test(text) ? (TypeID.fromUUID('run', text.toLowerCase()).toString() as RunId) : undefined
}
