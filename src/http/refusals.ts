import type { KeyScope } from '../../schemas/actor.ts'
import type { ErrorCode } from '../../schemas/api/error.ts'
import { IDEMPOTENCY_HOURS } from '../../schemas/primitives.ts'
import { fromMicros } from '../domain/money.ts'
import type { FileRefusal, Refusal, RefusalCode, Refusals } from '../domain/refusal.ts'
import { MAX_HOST_LENGTH, MAX_URL_LENGTH, type WebhookUrlFault } from '../domain/webhook-url.ts'
import type { Answer } from '../services/answer.ts'
import { acceptedTypes } from '../services/uploads/upload-rules.ts'
import { ApiError, type ErrorDetails } from './api-error.ts'
import { describeFamilyFault } from './family-faults.ts'

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw errorOf(refusals, answer.refuse)
  return answer.value
}

/** A table that turns every refusal into an error of the API. */
export type ErrorTable = { [Code in RefusalCode]: (facts: Refusals[Code]) => ApiError }

export const errorOf = (table: ErrorTable, refusal: Refusal): ApiError =>
  // The compiler does not see that the code selects the entry for these facts.
  (table[refusal.code] as (facts: Refusal) => ApiError)(refusal)

const say =
  <Facts>(code: ErrorCode, words: string | ((facts: Facts) => string), details?: (facts: Facts) => ErrorDetails) =>
  (facts: Facts): ApiError =>
    new ApiError(code, typeof words === 'string' ? words : words(facts), details?.(facts))

const ASK_AGAIN = 'Request a new address with POST /v1/uploads/presigned, and use it unchanged.'

/** The status, code and words of every refusal over HTTP. Today no client can cause some of them. */
export const refusals = {
  forbidden: say('forbidden', ({ scope }) =>
    scope ? `This API key has the scope "${scope}", so it may ${abilities[scope]}.` : 'You may not do this.',
  ),

  account_exists: say('invalid_request', 'The account already exists.'),
  account_not_found: say('not_found', 'There is no such account.'),
  email_invalid: say('invalid_request', ({ email }) => `${JSON.stringify(email)} is not an e-mail address.`),
  balance_too_high: say('invalid_request', 'The balance would be too large to represent exactly.'),

  key_exists: say('invalid_request', 'The account already has this key.'),
  key_not_found: say('not_found', 'The account has no such active key.'),
  key_revoked: say('invalid_api_key', 'This API key was revoked.'),
  too_many_keys: say('rate_limited', ({ limit }) => `The account already has ${limit} active keys; revoke one first.`),

  reference_mismatch: say('invalid_request', 'This reference was used for a different amount. Use a new one.'),
  too_many_references: say(
    'rate_limited',
    ({ limit }) => `The account already has ${limit} grants and withdrawals, which is the limit.`,
  ),
  refunds_changed: say('invalid_request', 'The account received other refunds at the same time. Try again.'),
  refund_too_high: say(
    'invalid_request',
    ({ refundableMicros }) => `At most ${fromMicros(refundableMicros)} credits of this run can be refunded.`,
  ),

  model_not_found: say('model_not_found', ({ model }) =>
    [
      `There is no model ${JSON.stringify(model)}. GET /v1/models or the tool list_models returns the models.`,
      'The input selects what a model does.',
    ].join(' '),
  ),
  model_not_listed: say(
    'model_not_found',
    ({ model }) => `There is no model ${JSON.stringify(model)}. Omit model to list all models.`,
  ),
  kind_not_offered: say(
    'invalid_input',
    ({ model, kinds }) =>
      [
        `${model} has only these kinds: ${kinds.join(', ')}.`,
        'An input with image_url selects an image-to-* kind, any other a text-to-* kind.',
      ].join(' '),
    () => ({ errors: [{ path: '/input', message: 'selects a kind that the model does not have' }] }),
  ),
  input_invalid: say(
    'invalid_input',
    ({ endpoint }) => `The input does not match the parameters_schema of ${endpoint}.`,
    ({ faults }) => ({ errors: faults.map(({ path, message }) => ({ path: `/input${path}`, message })) }),
  ),
  input_file_refused: say(
    'invalid_input',
    ({ reason }) => `image_url cannot be used. ${wordsOf(reason)}`,
    ({ reason }) => ({ errors: [{ path: '/input/image_url', message: wordsOf(reason) }] }),
  ),
  part_too_large: say(
    'invalid_request',
    ({ path, limitBytes }) => `${path} is larger than ${limitBytes} bytes.`,
    ({ path, limitBytes }) => ({ errors: [{ path, message: `must be at most ${limitBytes} bytes of JSON` }] }),
  ),
  webhook_url_invalid: say(
    'invalid_request',
    ({ fault }) => `webhook_url ${webhookUrlFaults[fault]}.`,
    ({ fault }) => ({ errors: [{ path: '/webhook_url', message: webhookUrlFaults[fault] }] }),
  ),

  insufficient_credits: say(
    'insufficient_credits',
    ({ requiredMicros, balanceMicros }) =>
      `The run costs ${fromMicros(requiredMicros)} credits and the balance is ${fromMicros(balanceMicros)}.`,
    ({ requiredMicros, balanceMicros }) => ({
      required_credits: fromMicros(requiredMicros),
      credits_balance: fromMicros(balanceMicros),
    }),
  ),
  idempotency_mismatch: say(
    'idempotency_mismatch',
    [
      `This Idempotency-Key was used for a different request in the last ${IDEMPOTENCY_HOURS} hours.`,
      'Use a new one for this request.',
    ].join(' '),
  ),
  run_exists: say('invalid_request', 'The run already exists.'),
  run_not_found: say('run_not_found', 'There is no such run.'),
  run_not_open: say('run_ended', 'The run has already ended.'),
  run_already_started: say('invalid_request', 'The run has already started.'),
  run_not_started: say('invalid_request', 'The run has not started yet.'),
  run_already_submitted: say('invalid_request', 'The run was already submitted to its provider.'),
  run_not_ended: say('invalid_request', 'The run has not ended yet.'),

  webhook_not_found: say('not_found', 'There is no run with this id and a webhook.'),
  webhook_not_pending: say('invalid_request', 'No webhook is due for this run.'),
  webhook_pending: say('invalid_request', 'The webhook of this run is already being delivered.'),

  upload_exists: say('invalid_request', 'The upload already exists.'),
  upload_not_found: say('upload_not_found', 'The upload does not exist or was deleted.'),
  upload_not_sent: say(
    'upload_not_found',
    'No file has arrived yet, or it was refused and deleted. Send one with PUT to the presigned_url.',
  ),
  upload_already_stored: say('invalid_request', 'The file of this upload is already stored.'),
  too_many_uploads: say(
    'rate_limited',
    ({ limit }) =>
      `The account already has ${limit} uploads, which is the limit. Delete some or wait until they expire.`,
  ),
  upload_too_large: say(
    'payload_too_large',
    ({ limitBytes }) => `A file may be at most ${limitBytes} bytes.`,
    ({ limitBytes }) => ({ errors: [{ path: '/size_bytes', message: `must be at most ${limitBytes}` }] }),
  ),
  declared_type_not_accepted: say(
    'unsupported_media_type',
    ({ declared }) =>
      `The declared type ${JSON.stringify(declared)} is not accepted. Accepted types: ${acceptedTypes.join(', ')}.`,
  ),
  declared_type_unspecific: say(
    'unsupported_media_type',
    ({ declared }) => `${declared} does not identify the type of the file. Declare its specific type.`,
  ),

  file_empty: say('unsupported_media_type', 'The file is empty.'),
  file_too_large: say(
    'payload_too_large',
    ({ sizeBytes, limitBytes }) => `The file has ${sizeBytes} bytes; the limit is ${limitBytes}.`,
  ),
  file_type_not_accepted: say(
    'unsupported_media_type',
    ({ mimeType = 'of unknown type' }) =>
      `The file is ${mimeType}, which is not accepted. Accepted types: ${acceptedTypes.join(', ')}.`,
  ),
  file_type_mismatch: say(
    'unsupported_media_type',
    ({ mimeType, declared }) => `The file is ${mimeType}, but was declared as ${declared}.`,
  ),
  file_sent_as_other_type: say(
    'unsupported_media_type',
    ({ sentAs, declared }) =>
      `The file was sent as ${sentAs}, but was declared as ${declared}. Send it with Content-Type: ${declared}.`,
  ),
  file_truncated: say(
    'unsupported_media_type',
    ({ mimeType }) => `The file is ${mimeType}, but its end is missing. It may be truncated.`,
  ),
  file_ambiguous: say(
    'unsupported_media_type',
    ({ mimeType, alsoIs }) => `The file is both ${mimeType} and ${alsoIs}.`,
  ),
  file_not_image: say('invalid_input', ({ mimeType }) => `The file is ${mimeType}, not an image.`),
  file_not_found: say('invalid_input', 'The file does not exist or was deleted.'),
  file_over_limit: say('invalid_input', ({ limitBytes }) => `The file is larger than ${limitBytes} bytes.`),

  put_address_invalid: say('upload_not_found', `This service did not issue the address. ${ASK_AGAIN}`),
  put_address_expired: say('upload_not_found', `The address has expired. ${ASK_AGAIN}`),
  put_too_large: say('payload_too_large', ({ limitBytes }) => `The address accepts at most ${limitBytes} bytes.`),
  put_type_mismatch: say(
    'unsupported_media_type',
    ({ sentAs, granted }) => `The address accepts ${granted}, but ${sentAs} was sent.`,
  ),
  put_interrupted: say('invalid_request', 'The upload was interrupted.'),

  family_exists: say('invalid_request', 'The family is already published.'),
  family_not_found: say('not_found', 'There is no such family.'),
  family_unchanged: say('invalid_request', 'The family is already published in this form.'),
  family_invalid: say('invalid_request', ({ fault }) => `The family is not valid: ${describeFamilyFault(fault)}.`),
} satisfies ErrorTable

/** The abilities of keys by scope. */
const abilities: Record<KeyScope, string> = {
  full: 'do everything except manage keys',
  read: 'only read: send GET requests, except for the webhook secret, make dry runs, and call read-only tools',
  keys: 'only manage keys, under /v1/keys',
}

/** Why a URL cannot receive webhooks. */
export const webhookUrlFaults: Record<WebhookUrlFault, string> = {
  not_http: 'must be an http or https URL',
  credentials: 'must not contain a user name or password, because it is recorded',
  too_long: `must be at most ${MAX_URL_LENGTH} characters long`,
  host_too_long: `must have a host name of at most ${MAX_HOST_LENGTH} characters`,
}

const wordsOf = (reason: FileRefusal): string => errorOf(refusals, reason).message
