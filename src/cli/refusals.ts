import { fromMicros } from '../domain/money.ts'
import type { Refusals } from '../domain/refusal.ts'
import type { Answer } from '../services/answer.ts'
import { urlFaults } from '../transports/refusals/phrases.ts'
import { messageOf, type RefusalMessages } from '../transports/refusals.ts'
import { OperatorError } from './operator-error.ts'

/** The value of an answer. Throws OperatorError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw new OperatorError(messageOf(answer.refuse, messages))
  return answer.value
}

const modelNotFound = ({ model, replacedBy }: Refusals['model_not_found']) =>
  replacedBy === undefined
    ? `There is no model ${model}; "tollgate catalog list" shows all models.`
    : `The model ${model} was withdrawn; ${replacedBy} replaces it.`

/** The messages that name a command, or that say something else to an operator than to a client. */
export const messages: RefusalMessages = {
  account_not_found: () =>
    'There is no such account; "tollgate accounts list" shows all, and "tollgate accounts find EMAIL" finds one.',

  key_not_found: () => 'The account has no such active key; "tollgate keys list ACCOUNT" shows its keys.',
  key_revoked: () => 'The key was revoked.',

  auditor_not_found: () => 'There is no such active auditor; "tollgate auditors list" shows all auditors.',

  reference_mismatch: ({ amountMicros }) =>
    [
      `This reference was used for ${amountMicros < 0 ? 'a withdrawal' : 'a grant'} of`,
      `${fromMicros(Math.abs(amountMicros))} credits. Use a different one.`,
    ].join(' '),

  model_not_found: modelNotFound,
  model_not_listed: modelNotFound,
  model_not_served: ({ endpoint }) => `No provider of ${endpoint} is configured; "tollgate providers list" shows them.`,
  kind_not_offered: ({ model, kinds }) => `${model} has only these kinds: ${kinds.join(', ')}.`,
  input_invalid: ({ endpoint, faults }) =>
    `The input does not match ${endpoint}: ${faults.map(({ path, message }) => `${path} ${message}`).join('; ')}.`,
  input_file_refused: ({ parameter, reason }) => `${parameter} cannot be used. ${messageOf(reason, messages)}`,
  webhook_url_invalid: ({ url, fault }) => `${JSON.stringify(url)} cannot receive webhooks: it ${urlFaults[fault]}.`,

  // On the command line, only a withdrawal is refused for lack of credits.
  insufficient_credits: ({ balanceMicros }) => {
    const balance = fromMicros(balanceMicros)
    return `The balance is ${balance} credits, so ${balance > 0 ? `at most ${balance}` : 'nothing'} can be withdrawn.`
  },
  idempotency_mismatch: () => 'This idempotency key was used for a different request.',

  webhook_not_found: () =>
    'The account has no run with this id that has a webhook; see "tollgate webhooks list ACCOUNT".',
  webhook_pending: () =>
    'The webhook is already being delivered; "tollgate webhooks list" shows when the next attempt is due.',

  upload_not_found: () => 'The account has no such upload.',
  upload_not_sent: () => 'The file of this upload has not arrived.',
  too_many_uploads: ({ limit }) => `The account already has ${limit} uploads, which is the limit.`,
  declared_type_not_accepted: ({ declared }) => `Files of type ${declared} are not accepted.`,
  declared_type_unspecific: ({ declared }) => `${declared} is not a specific type.`,

  file_type_not_accepted: ({ mimeType = 'of unknown type' }) => `The file is ${mimeType}, which is not accepted.`,
  file_sent_as_other_type: ({ sentAs, declared }) => `The file was sent as ${sentAs}, but was declared as ${declared}.`,
  file_truncated: ({ mimeType }) => `The file is ${mimeType}, but its end is missing.`,
  file_not_found: () => 'There is no such file.',

  put_address_invalid: () => 'This service did not issue the URL.',
  put_address_expired: () => 'The URL has expired.',
  put_address_withdrawn: () => 'The upload was deleted, or its API key was revoked.',

  family_not_found: () => 'There is no such family; "tollgate catalog list" shows all families.',
}
