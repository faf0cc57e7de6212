import { TypeID } from 'typeid-js'
import {
  AccountId,
  type AuditorId,
  type KeyId,
  PurchaseId,
  RunId,
  SessionId,
  UploadId,
  Uuid,
  type WebhookTestId,
} from '../../schemas/primitives.ts'
import { compileGuard } from '../engine/log/codec.ts'
import type { Random } from '../ports/random.ts'

const newId = (prefix: string, random: Random) => TypeID.fromUUID(prefix, random.risingUuid()).toString()

export const newAccountId = (random: Random) => newId('acct', random) as AccountId
export const newKeyId = (random: Random) => newId('key', random) as KeyId
export const newAuditorId = (random: Random) => newId('aud', random) as AuditorId
export const newUploadId = (random: Random) => newId('upl', random) as UploadId
export const newWebhookTestId = (random: Random) => newId('wht', random) as WebhookTestId
export const newSessionId = (random: Random) => newId('sess', random) as SessionId
export const newPurchaseId = (random: Random) => newId('pur', random) as PurchaseId
/** The ID of a claim on a payment that the operator makes. */
export const newClaimId = (random: Random) => newId('ref', random)
export const newRunId = (random: Random) => newId('run', random) as RunId

/** The least ID that a run can have that was accepted at a time. IDs begin with the milliseconds since 1970. */
export const firstRunIdAt = (ms: number): RunId => {
  const time = Math.max(0, ms).toString(16).padStart(12, '0')
  return TypeID.fromUUID('run', `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`).toString() as RunId
}

/** The time at which a run got its ID, in milliseconds since 1970. */
export const timeOfRunId = (id: RunId): number =>
  Number.parseInt(TypeID.fromString(id).toUUID().replaceAll('-', '').slice(0, 12), 16)

/**
 * The `webhook-id` of a run's webhook or of a test. All attempts have the same ID, so receivers can recognise repeats.
 */
export const webhookIdOf = (id: RunId | WebhookTestId): string => id.replace(/^[a-z]+_/, 'msg_')

export const isAccountId = compileGuard(AccountId)

export const isSessionId = compileGuard(SessionId)

export const isPurchaseId = compileGuard(PurchaseId)

export const isUploadId = compileGuard(UploadId)

/** Parses either form of a run ID, `run_…` or a UUID. Returns undefined for any other text. */
export const parseRunId = (text: string): RunId | undefined => {
  if (isRunId(text)) return text
  const uuid = text.toLowerCase()
  return isUuid(uuid) ? (TypeID.fromUUID('run', uuid).toString() as RunId) : undefined
}

const isRunId = compileGuard(RunId)
const isUuid = compileGuard(Uuid)
