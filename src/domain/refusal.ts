/** Every reason for which the domain says no, with what the asker needs to know. The list is closed. */
export interface Refusals {
  account_exists: object
  account_not_found: object
  balance_too_high: { balanceMicros: number }
  key_exists: object
  key_not_found: object
  too_many_keys: { limit: number }
  insufficient_credits: { requiredMicros: number; balanceMicros: number }
  idempotency_mismatch: object
  run_exists: object
  run_not_open: object
  run_already_started: object
  run_not_started: object
  run_already_submitted: object
  run_not_ended: object
  webhook_not_pending: object
  webhook_pending: object
  upload_exists: object
  upload_not_found: object
  upload_already_stored: object
  too_many_uploads: { limit: number }
  family_exists: object
  family_not_found: object
  family_unchanged: object
  family_invalid: { message: string }
}
export type RefusalCode = keyof Refusals

/** A refusal is a value: what was asked for is understood, and may not be. */
export type Refusal = { [Code in RefusalCode]: { code: Code } & Refusals[Code] }[RefusalCode]
