import { MAX_ACTIVE_KEYS } from '../../schemas/primitives.ts'
import type { Refusal } from '../domain/refusal.ts'

/** What an operator asked for cannot be done; the message says why, and what to do instead. */
export class OperatorError extends Error {
  override name = 'OperatorError'

  static of(refusal: Refusal): OperatorError {
    if (refusal.code === 'family_invalid') return new OperatorError(`The family is not valid: ${refusal.message}.`)
    return new OperatorError(messages[refusal.code] ?? `That was refused: ${JSON.stringify(refusal)}.`)
  }
}

const messages: Partial<Record<Refusal['code'], string>> = {
  account_not_found: 'There is no such account; "tollgate accounts list" shows those there are.',
  key_exists: 'The account has this key already.',
  key_not_found: 'The account has no such active key; "tollgate keys list ACCOUNT" shows those it has.',
  too_many_keys: `The account already has ${MAX_ACTIVE_KEYS} active keys; revoke one first.`,
  family_not_found: 'There is no such family on offer; "tollgate catalog list" shows those there are.',
  run_not_ended: 'The run has not ended yet; its receiver is told when it has.',
  webhook_pending: 'The receiver is being told already; "tollgate webhooks list" shows when the next attempt is due.',
  balance_too_high: 'The balance would be more than can be counted exactly.',
}
