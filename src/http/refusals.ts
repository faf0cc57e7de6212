import type { KeyScope } from '../../schemas/actor.ts'
import type { ErrorCode } from '../../schemas/api/error.ts'
import { IDEMPOTENCY_HOURS } from '../../schemas/primitives.ts'
import { fromMicros } from '../domain/money.ts'
import type { FileRefusal, Refusal, RefusalCode, Refusals } from '../domain/refusal.ts'
import type { Answer } from '../services/answer.ts'
import { type RefusalWords, sharedWords, urlFaults, wordsOf } from '../services/refusal-words.ts'
import { acceptedImages, acceptedTypes } from '../services/uploads/upload-rules.ts'
import { ApiError, type ErrorDetails } from './api-error.ts'
import { TOLLGATE_POSITION } from './headers.ts'

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw errorOf(words, answer.refuse)
  return answer.value
}

/** The error of the API for a refusal, in the words of a transport. */
export const errorOf = (words: RefusalWords, refusal: Refusal): ApiError => {
  // The compiler does not see that the code selects the entry for these facts.
  const detailsOf = details[refusal.code] as ((facts: Refusal, words: RefusalWords) => ErrorDetails) | undefined
  const retryAfterSeconds = 'retryAfterMs' in refusal ? Math.ceil(refusal.retryAfterMs / 1000) : undefined
  return new ApiError(codes[refusal.code], wordsOf(words, refusal), detailsOf?.(refusal, words), { retryAfterSeconds })
}

const REQUEST_NEW_URL = 'Request a new URL with POST /v1/uploads/presigned, and use it unchanged.'

/** The words of every refusal over HTTP. Today no client can cause some of them. */
export const words = {
  ...sharedWords,

  forbidden: ({ scope }) =>
    scope ? `This API key has the scope "${scope}", so it may ${abilities[scope]}.` : 'You may not do this.',

  account_not_found: () => 'There is no such account.',

  key_not_found: () => 'The account has no such active key.',
  auditor_not_found: () => 'There is no such active auditor.',
  key_revoked: () => 'This API key was revoked.',

  reference_mismatch: () => 'This reference was used for a different amount. Use a new one.',

  model_not_found: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? [
          `There is no model ${JSON.stringify(model)}. GET /v1/models returns the models.`,
          'Use the ID or an alias of a family, or the ID of an endpoint.',
        ].join(' ')
      : `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}; see GET /v1/models/${replacedBy}.`,
  model_not_listed: ({ model, replacedBy }) =>
    replacedBy === undefined
      ? `There is no model ${JSON.stringify(model)}. GET /v1/models returns the models.`
      : `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}.`,
  model_not_served: ({ endpoint }) =>
    `This service has no provider for ${endpoint} now. GET /v1/models shows the available ones; nothing was charged.`,
  kind_not_offered: ({ model, kinds }) =>
    [
      `${model} has only these kinds: ${kinds.join(', ')}.`,
      'An input with image_url selects an image-to-* kind, any other a text-to-* kind.',
    ].join(' '),
  input_invalid: ({ endpoint }) => `The input does not match the parameters_schema of ${endpoint}.`,
  input_file_refused: ({ reason }): string => `image_url cannot be used. ${imageFault(words, reason)}`,
  webhook_url_invalid: ({ parameter, fault }) => `${parameter} ${urlFaults[fault]}.`,

  insufficient_credits: ({ requiredMicros, balanceMicros }) =>
    [
      `The run costs ${fromMicros(requiredMicros)} credits and the balance is ${fromMicros(balanceMicros)}.`,
      'Choose a cheaper model or input, or ask the operator of the service for credits.',
    ].join(' '),
  idempotency_mismatch: () =>
    [
      `This Idempotency-Key was used for a different request in the last ${IDEMPOTENCY_HOURS} hours.`,
      'Use a new one for this request.',
    ].join(' '),
  run_not_found: () => 'There is no such run.',

  webhook_not_found: () => 'This run has no webhook_url.',
  webhook_pending: () => 'The webhook of this run is already being delivered.',

  upload_not_found: () => 'The upload does not exist or was deleted.',
  upload_not_sent: () =>
    'No file has arrived yet, or it was refused and deleted. Send one with PUT to the presigned_url.',
  too_many_uploads: ({ limit }) =>
    `The account already has ${limit} uploads, which is the limit. Delete some or wait until they expire.`,
  declared_type_not_accepted: ({ declared }) =>
    `The declared type ${JSON.stringify(declared)} is not accepted. Accepted types: ${acceptedTypes.join(', ')}.`,
  declared_type_unspecific: ({ declared }) =>
    `${declared} does not identify the type of the file. Declare its specific type.`,

  file_type_not_accepted: facts => typeNotAccepted(facts, acceptedTypes),
  file_sent_as_other_type: ({ sentAs, declared }) =>
    `The file was sent as ${sentAs}, but was declared as ${declared}. Send it with Content-Type: ${declared}.`,
  file_truncated: ({ mimeType }) => `The file is ${mimeType}, but its end is missing. It may be truncated.`,
  file_not_found: () => 'The file does not exist or was deleted.',

  put_address_invalid: () => `This service did not issue the URL. ${REQUEST_NEW_URL}`,
  put_address_expired: () => `The URL has expired. ${REQUEST_NEW_URL}`,
  put_address_withdrawn: () => `The upload was deleted, or its API key was revoked. ${REQUEST_NEW_URL}`,

  family_not_found: () => 'There is no such family.',
} satisfies RefusalWords

const typeNotAccepted = ({ mimeType = 'of unknown type' }: { mimeType?: string }, accepted: readonly string[]) =>
  `The file is ${mimeType}, which is not accepted. Accepted types: ${accepted.join(', ')}.`

/** Why a file cannot be the image of an input. Uploads may also be videos. */
const imageFault = (words: RefusalWords, reason: FileRefusal): string =>
  reason.code === 'file_type_not_accepted' ? typeNotAccepted(reason, acceptedImages) : wordsOf(words, reason)

/** The abilities of keys by scope, and what has the others. */
const abilities: Record<KeyScope, string> = {
  full: 'do everything except manage keys. For that, use a key with the scope "keys", or sign in',
  read: [
    'only read: send GET requests, except for secrets and notices, make dry runs, and call read-only tools.',
    'For the rest, use a key with the scope "full", and for keys one with the scope "keys"',
  ].join(' '),
  keys: [
    'only manage keys, with GET and POST /v1/keys and DELETE /v1/keys/{id}.',
    'For the rest, use a key with the scope "full"',
  ].join(' '),
}

/** The code of every refusal. */
const codes: Record<RefusalCode, ErrorCode> = {
  forbidden: 'forbidden',

  account_exists: 'invalid_request',
  account_not_found: 'not_found',
  account_suspended: 'account_suspended',
  account_already_suspended: 'invalid_request',
  account_not_suspended: 'invalid_request',
  email_invalid: 'invalid_request',
  balance_too_high: 'invalid_request',
  identity_taken: 'invalid_request',
  too_many_identities: 'rate_limited',
  session_ended: 'invalid_api_key',

  too_many_codes: 'rate_limited',
  too_many_sign_ins: 'rate_limited',
  code_not_valid: 'invalid_request',
  code_wrong: 'invalid_request',
  telegram_not_offered: 'not_found',
  telegram_not_confirmed: 'invalid_request',
  registration_closed: 'forbidden',
  registrations_full: 'rate_limited',

  key_exists: 'invalid_request',
  key_not_found: 'not_found',
  key_revoked: 'invalid_api_key',
  key_expired: 'invalid_api_key',
  live_key_not_grantable: 'forbidden',
  live_key_required: 'forbidden',
  test_key_budget: 'invalid_request',
  key_scope_not_grantable: 'forbidden',
  key_expiry_past: 'invalid_request',
  key_model_unknown: 'invalid_request',
  key_address_invalid: 'invalid_request',
  address_not_allowed: 'forbidden',
  model_not_allowed: 'forbidden',
  too_many_keys: 'rate_limited',

  auditor_exists: 'invalid_request',
  auditor_not_found: 'not_found',
  too_many_auditors: 'rate_limited',
  too_many_reads: 'rate_limited',
  verification_running: 'rate_limited',

  reference_mismatch: 'invalid_request',
  too_many_references: 'rate_limited',
  refunds_changed: 'invalid_request',
  refund_too_high: 'invalid_request',

  model_not_found: 'model_not_found',
  model_not_listed: 'model_not_found',
  model_not_served: 'unavailable',
  kind_not_offered: 'invalid_input',
  input_invalid: 'invalid_input',
  input_file_refused: 'invalid_input',
  address_not_public: 'invalid_input',
  part_too_large: 'invalid_request',
  image_url_invalid: 'invalid_input',
  webhook_url_invalid: 'invalid_request',

  budget_exceeded: 'budget_exceeded',
  insufficient_credits: 'insufficient_credits',
  idempotency_mismatch: 'idempotency_mismatch',
  position_unknown: 'invalid_request',
  seal_not_found: 'not_found',
  cursor_unknown: 'invalid_request',
  revision_unknown: 'invalid_request',
  time_ahead: 'invalid_request',
  usage_days_invalid: 'invalid_request',
  usage_too_large: 'invalid_request',
  too_many_test_runs: 'rate_limited',
  too_many_failures: 'rate_limited',
  too_many_open_runs: 'rate_limited',
  too_many_runs_in_flight: 'rate_limited',
  too_many_requests: 'rate_limited',
  open_runs_too_large: 'rate_limited',
  event_not_found: 'not_found',
  seals_not_in_order: 'invalid_request',
  event_not_sealed: 'not_sealed',
  too_many_events: 'invalid_request',
  too_many_proofs: 'rate_limited',
  run_not_charged: 'invalid_request',
  run_exists: 'invalid_request',
  run_not_found: 'run_not_found',
  run_not_open: 'run_ended',
  run_already_started: 'invalid_request',
  run_not_started: 'invalid_request',
  run_already_submitted: 'invalid_request',
  run_not_ended: 'webhook_pending',

  webhook_not_found: 'not_found',
  webhook_not_pending: 'invalid_request',
  webhook_pending: 'webhook_pending',
  too_many_resends: 'rate_limited',
  webhook_secret_rotated: 'rate_limited',
  too_many_webhook_tests: 'rate_limited',
  notice_not_due: 'invalid_request',
  notice_address_unlinked: 'invalid_request',

  upload_exists: 'invalid_request',
  upload_not_found: 'upload_not_found',
  upload_not_sent: 'upload_not_found',
  upload_already_stored: 'invalid_request',
  too_many_uploads: 'rate_limited',
  upload_quota_exceeded: 'rate_limited',
  too_many_arriving_uploads: 'rate_limited',
  upload_too_large: 'payload_too_large',
  declared_type_not_accepted: 'unsupported_media_type',
  declared_type_unspecific: 'unsupported_media_type',

  file_empty: 'unsupported_media_type',
  file_too_large: 'payload_too_large',
  file_type_not_accepted: 'unsupported_media_type',
  file_type_mismatch: 'unsupported_media_type',
  file_sent_as_other_type: 'unsupported_media_type',
  file_truncated: 'unsupported_media_type',
  file_ambiguous: 'unsupported_media_type',
  file_not_image: 'invalid_input',
  file_not_found: 'invalid_input',
  data_url_unusable: 'invalid_input',
  file_over_limit: 'invalid_input',

  put_address_invalid: 'upload_not_found',
  put_address_expired: 'upload_not_found',
  put_address_withdrawn: 'upload_not_found',
  too_many_puts: 'rate_limited',
  put_too_large: 'payload_too_large',
  put_type_mismatch: 'unsupported_media_type',
  put_interrupted: 'invalid_request',

  period_closed: 'invalid_request',
  period_not_over: 'invalid_request',
  period_before_log: 'invalid_request',
  period_not_sealed: 'not_sealed',
  period_seal_outdated: 'invalid_request',

  provider_unknown: 'not_found',
  sandbox_not_optional: 'invalid_request',
  endpoint_not_bound: 'not_found',
  binding_unknown: 'not_found',

  callback_not_expected: 'not_found',
  callback_not_signed: 'invalid_request',

  family_exists: 'invalid_request',
  family_not_found: 'not_found',
  family_unchanged: 'invalid_request',
  family_invalid: 'invalid_request',
}

/** The details of the refusals that have some. */
const details: { [Code in RefusalCode]?: (facts: Refusals[Code], words: RefusalWords) => ErrorDetails } = {
  model_not_found: ({ replacedBy }) => replacement(replacedBy),
  model_not_listed: ({ replacedBy }) => replacement(replacedBy),
  kind_not_offered: () => ({ errors: [{ path: '/input', message: 'selects a kind that the model does not have' }] }),
  input_invalid: ({ faults }) => ({
    errors: faults.map(({ path, message }) => ({ path: `/input${path}`, message })),
  }),
  input_file_refused: ({ reason }, words) => ({
    errors: [{ path: '/input/image_url', message: imageFault(words, reason) }],
  }),
  address_not_public: ({ parameter }) => ({
    errors: [
      {
        path: parameter === 'image_url' ? '/input/image_url' : `/${parameter}`,
        message: 'must have a public host that is not denied',
      },
    ],
  }),
  part_too_large: ({ path, limitBytes }) => ({
    errors: [{ path, message: `must be at most ${limitBytes} bytes of JSON` }],
  }),
  image_url_invalid: ({ fault }) => ({ errors: [{ path: '/input/image_url', message: urlFaults[fault] }] }),
  webhook_url_invalid: ({ parameter, fault }) => ({ errors: [{ path: `/${parameter}`, message: urlFaults[fault] }] }),
  notice_address_unlinked: () => ({
    errors: [{ path: '/email_address', message: 'must be an e-mail address of the account' }],
  }),
  test_key_budget: () => ({ errors: [{ path: '/budget', message: 'must be left out of a test key' }] }),
  key_expiry_past: () => ({ errors: [{ path: '/expires_at', message: 'must be in the future' }] }),
  key_model_unknown: ({ index }) => ({ errors: [{ path: `/models/${index}`, message: 'is not a model' }] }),
  key_address_invalid: ({ index }) => ({
    errors: [{ path: `/addresses/${index}`, message: 'must be an IP address or a CIDR range' }],
  }),
  budget_exceeded: ({ requiredMicros, budgetMicros, spentMicros, renewsAt }) => ({
    required_credits: fromMicros(requiredMicros),
    budget_credits: fromMicros(budgetMicros),
    spent_credits: fromMicros(spentMicros),
    renews_at: renewsAt,
  }),
  insufficient_credits: ({ requiredMicros, balanceMicros }) => ({
    required_credits: fromMicros(requiredMicros),
    credits_balance: fromMicros(balanceMicros),
  }),
  seals_not_in_order: () => ({ errors: [{ path: '/from', message: 'must be less than to' }] }),
  position_unknown: () => ({
    errors: [{ path: `/headers/${TOLLGATE_POSITION}`, message: 'is beyond the end of the log' }],
  }),
  cursor_unknown: () => ({ errors: [{ path: '/cursor', message: 'is no next_cursor of this list' }] }),
  revision_unknown: ({ lastRevision }) => ({ errors: [{ path: '/at', message: `must be at most ${lastRevision}` }] }),
  time_ahead: () => ({ errors: [{ path: '/at', message: 'must not be in the future' }] }),
  usage_days_invalid: ({ maxDays }) => ({
    errors: [{ path: '/to', message: `must be 1 to ${maxDays} days after from` }],
  }),
  upload_too_large: ({ limitBytes }) => ({
    errors: [{ path: '/size_bytes', message: `must be at most ${limitBytes}` }],
  }),
}

const replacement = (replacedBy: string | undefined): ErrorDetails =>
  replacedBy === undefined ? {} : { replaced_by: replacedBy }
