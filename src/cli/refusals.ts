import { fromMicros } from '../domain/money.ts'
import type { Answer } from '../services/answer.ts'
import { urlFaults } from '../transports/refusals/phrases.ts'
import { messageOf, type RefusalMessages } from '../transports/refusals.ts'
import { OperatorError } from './operator-error.ts'

/** The value of an answer. Throws OperatorError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw new OperatorError(messageOf(answer.refuse, messages))
  return answer.value
}

const NOT_FOUND =
  'There is no such account; "tollgate accounts list" shows all, and "tollgate accounts find" takes an e-mail ' +
  'address or any ID.'

/**
 * Messages that name a command, or that are different for operators and clients. Commands open only `CoreServices`, so
 * messages about uploads and inputs never appear here.
 */
export const messages: RefusalMessages = {
  account_not_found: () => NOT_FOUND,
  key_not_found: () => 'The account has no such active key; "tollgate keys list ACCOUNT" shows its keys.',
  key_revoked: () => 'The key was revoked.',
  auditor_not_found: () => 'There is no such active auditor; "tollgate auditors list" shows all auditors.',
  reference_mismatch: ({ amountMicros }) =>
    [
      `This reference was used for ${amountMicros < 0 ? 'a withdrawal' : 'a grant'} of`,
      `${fromMicros(Math.abs(amountMicros))} credits. Use a different one.`,
    ].join(' '),
  model_not_found: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? `There is no model ${model}; "tollgate catalog list" shows all models.`
      : `The model ${model} was withdrawn; ${replacedBy} replaces it.`,
  webhook_url_invalid: ({ url, fault }) => `${JSON.stringify(url)} cannot receive webhooks: it ${urlFaults[fault]}.`,
  // On the command line, only withdrawals are refused for lack of credits.
  insufficient_credits: ({ balanceMicros }) => {
    const balance = fromMicros(balanceMicros)
    return `The balance is ${balance} credits, so ${balance > 0 ? `at most ${balance}` : 'nothing'} can be withdrawn.`
  },
  purchase_not_found: () => 'There is no such purchase; "tollgate purchases list" shows all.',
  webhook_not_found: () =>
    'The account has no run with this id that has a webhook; see "tollgate webhooks list ACCOUNT".',
  webhook_pending: () =>
    'The webhook is already being delivered; "tollgate webhooks list" shows when the next attempt is due.',
  family_not_found: () => 'There is no such family; "tollgate catalog list" shows all families.',
}
