import { MAX_ACTIVE_KEYS } from '../../schemas/primitives.ts'
import { fromMicros } from '../domain/money.ts'
import type { Refusal, RefusalCode, Refusals } from '../domain/refusal.ts'
import { describeFamilyFault } from '../http/family-faults.ts'
import { webhookUrlFaults } from '../http/refusals.ts'
import type { Answer } from '../services/answer.ts'
import { OperatorError } from './operator-error.ts'

/** The value of an answer. Throws OperatorError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw new OperatorError(wordsOf(answer.refuse))
  return answer.value
}

/** The words of a refusal for an operator. */
export const wordsOf = (refusal: Refusal): string =>
  // The compiler does not see that the code selects the entry for these facts.
  (refusals[refusal.code] as (facts: Refusal) => string)(refusal)

/** The words of every refusal on the command line. Today no command can cause some of them. */
export const refusals = {
  forbidden: () => 'You may not do this.',

  account_exists: () => 'The account already exists.',
  account_not_found: () => 'There is no such account; "tollgate accounts list" shows all accounts.',
  email_invalid: ({ email }) => `${JSON.stringify(email)} is not an e-mail address.`,
  balance_too_high: () => 'The balance would be too large to represent exactly.',

  key_exists: () => 'The account already has this key.',
  key_not_found: () => 'The account has no such active key; "tollgate keys list ACCOUNT" shows its keys.',
  key_revoked: () => 'The key was revoked.',
  too_many_keys: () => `The account already has ${MAX_ACTIVE_KEYS} active keys; revoke one first.`,

  reference_mismatch: ({ amountMicros }) =>
    [
      `This reference was used for ${amountMicros < 0 ? 'a withdrawal' : 'a grant'} of`,
      `${fromMicros(Math.abs(amountMicros))} credits. Use a different one.`,
    ].join(' '),
  too_many_references: ({ limit }) => `The account already has ${limit} grants and withdrawals, which is the limit.`,
  refunds_changed: () => 'The account received other refunds at the same time. Try again.',
  refund_too_high: ({ refundableMicros }) =>
    `At most ${fromMicros(refundableMicros)} credits of this run can be refunded.`,

  model_not_found: ({ model }) => `There is no model ${model}; "tollgate catalog list" shows all models.`,
  model_not_listed: ({ model }) => `There is no model ${model}; "tollgate catalog list" shows all models.`,
  kind_not_offered: ({ model, kinds }) => `${model} has only these kinds: ${kinds.join(', ')}.`,
  input_invalid: ({ endpoint, faults }) =>
    `The input does not match ${endpoint}: ${faults.map(({ path, message }) => `${path} ${message}`).join('; ')}.`,
  input_file_refused: ({ reason }) => `image_url cannot be used. ${wordsOf(reason)}`,
  part_too_large: ({ path, limitBytes }) => `${path} is larger than ${limitBytes} bytes.`,
  webhook_url_invalid: ({ url, fault }) =>
    `${JSON.stringify(url)} cannot receive webhooks: it ${webhookUrlFaults[fault]}.`,

  insufficient_credits: ({ requiredMicros, balanceMicros }) =>
    `${fromMicros(requiredMicros)} credits are needed, and the balance is ${fromMicros(balanceMicros)}.`,
  idempotency_mismatch: () => 'This idempotency key was used for a different request.',
  run_exists: () => 'The run already exists.',
  run_not_found: () => 'The account has no such run.',
  run_not_open: () => 'The run has already ended.',
  run_already_started: () => 'The run has already started.',
  run_not_started: () => 'The run has not started yet.',
  run_already_submitted: () => 'The run was already submitted to its provider.',
  run_not_ended: () => 'The run has not ended yet.',

  webhook_not_found: () => 'The account has no run with this id and a webhook; see "tollgate webhooks list ACCOUNT".',
  webhook_not_pending: () => 'No webhook is due for this run.',
  webhook_pending: () =>
    'The webhook is already being delivered; "tollgate webhooks list" shows when the next attempt is due.',

  upload_exists: () => 'The upload already exists.',
  upload_not_found: () => 'The account has no such upload.',
  upload_not_sent: () => 'The file of this upload has not arrived.',
  upload_already_stored: () => 'The file of this upload is already stored.',
  too_many_uploads: ({ limit }) => `The account already has ${limit} uploads, which is the limit.`,
  upload_too_large: ({ limitBytes }) => `A file may be at most ${limitBytes} bytes.`,
  declared_type_not_accepted: ({ declared }) => `Files of type ${declared} are not accepted.`,
  declared_type_unspecific: ({ declared }) => `${declared} is not a specific type.`,

  file_empty: () => 'The file is empty.',
  file_too_large: ({ sizeBytes, limitBytes }) => `The file has ${sizeBytes} bytes; the limit is ${limitBytes}.`,
  file_type_not_accepted: ({ mimeType = 'of unknown type' }) => `The file is ${mimeType}, which is not accepted.`,
  file_type_mismatch: ({ mimeType, declared }) => `The file is ${mimeType}, but was declared as ${declared}.`,
  file_sent_as_other_type: ({ sentAs, declared }) => `The file was sent as ${sentAs}, but was declared as ${declared}.`,
  file_truncated: ({ mimeType }) => `The file is ${mimeType}, but its end is missing.`,
  file_ambiguous: ({ mimeType, alsoIs }) => `The file is both ${mimeType} and ${alsoIs}.`,
  file_not_image: ({ mimeType }) => `The file is ${mimeType}, not an image.`,
  file_not_found: () => 'There is no such file.',
  file_over_limit: ({ limitBytes }) => `The file is larger than ${limitBytes} bytes.`,

  put_address_invalid: () => 'This service did not issue the address.',
  put_address_expired: () => 'The address has expired.',
  put_too_large: ({ limitBytes }) => `The address accepts at most ${limitBytes} bytes.`,
  put_type_mismatch: ({ sentAs, granted }) => `The address accepts ${granted}, but ${sentAs} was sent.`,
  put_interrupted: () => 'The upload was interrupted.',

  family_exists: () => 'The family is already published.',
  family_not_found: () => 'There is no such family; "tollgate catalog list" shows all families.',
  family_unchanged: () => 'The family is already published in this form.',
  family_invalid: ({ fault }) => `The family is not valid: ${describeFamilyFault(fault)}.`,
} satisfies { [Code in RefusalCode]: (facts: Refusals[Code]) => string }
