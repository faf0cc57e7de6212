import { MAX_ACTIVE_KEYS } from '../../schemas/primitives.ts'
import type { Refusal } from '../domain/refusal.ts'

/** What an operator asked for cannot be done; the message says why, and what to do instead. */
export class OperatorError extends Error {
  override name = 'OperatorError'

  static of(refusal: Refusal): OperatorError {
    return new OperatorError(messages[refusal.code] ?? `That was refused: ${JSON.stringify(refusal)}.`)
  }
}

const messages: Partial<Record<Refusal['code'], string>> = {
  account_not_found: 'There is no such account; "tollgate accounts list" shows those there are.',
  key_not_found: 'The account has no such active key; "tollgate keys list ACCOUNT" shows those it has.',
  too_many_keys: `The account already has ${MAX_ACTIVE_KEYS} active keys; revoke one first.`,
  balance_too_high: 'The balance would be more than can be counted exactly.',
}
