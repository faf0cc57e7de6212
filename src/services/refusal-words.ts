import { isIP } from 'node:net'
import { MAX_PRESIGNED_MB } from '../../schemas/primitives.ts'
import { SMALL_RUN_BYTES } from '../domain/account/run-limits.ts'
import type { FreeEvents } from '../domain/account/state.ts'
import { FILE_PARAMETERS, type FileParameter } from '../domain/catalog/file-parameters.ts'
import { MAX_HOST_LENGTH } from '../domain/http-url.ts'
import { fromMicros } from '../domain/money.ts'
import type { CodeFault, FileRefusal, Refusal, RefusalCode, Refusals } from '../domain/refusal.ts'
import { MAX_URL_LENGTH, type WebhookUrlFault } from '../domain/webhook-url.ts'
import { describeFamilyFault } from './catalog/family-fault-words.ts'
import { acceptedOf, acceptedTypes } from './uploads/upload-rules.ts'

/** A sentence for every refusal. */
export type RefusalWords = { [Code in RefusalCode]: (facts: Refusals[Code]) => string }

/** The message of a refusal, in the words of a transport. */
export const wordsOf = <Some extends Refusal>(words: Pick<RefusalWords, Some['code']>, refusal: Some): string =>
  // The compiler does not see that the code selects the entry for these facts.
  (words[refusal.code as Some['code']] as (facts: Refusal) => string)(refusal)

/** Why a file cannot be used for a parameter. Uploads may be images or videos. */
export const fileFault = <Some extends FileRefusal>(
  words: Pick<RefusalWords, Some['code']>,
  parameter: FileParameter,
  reason: Some,
): string =>
  reason.code === 'file_type_not_accepted'
    ? typeNotAccepted(reason, acceptedOf(FILE_PARAMETERS[parameter]))
    : wordsOf(words, reason)

const typeNotAccepted = ({ mimeType = 'of unknown type' }: { mimeType?: string }, accepted: readonly string[]) =>
  `The file is ${mimeType}, which is not accepted. Accepted types: ${accepted.join(', ')}.`

/** Whose limit it is. */
const limited = { key: 'This API key', account: 'The account' } as const

/** What the owner did too much of, and what helps. */
const freeEvents: Record<FreeEvents, { excess: string; advice: string }> = {
  changes: {
    excess: 'changed its keys and settings too often',
    advice: 'Keys can be revoked at any time.',
  },
  testRuns: {
    excess: 'sent too much in its test runs',
    advice: 'Upload files and send their URLs instead of data: URLs, shorten the inputs, or use a live key.',
  },
  uploads: {
    excess: 'made too many uploads',
    advice: 'Use an upload again instead of sending its file again. Uploads can be deleted at any time.',
  },
  failedRuns: {
    excess: 'sent too much in runs that were cancelled or failed because of their input',
    advice: `Runs of up to ${SMALL_RUN_BYTES / 1024} KB are still accepted: upload files and send their URLs.`,
  },
}

/** The words that suit every transport. Each transport adds its own for the other refusals. */
export const sharedWords = {
  account_exists: () => 'The account already exists.',
  account_suspended: ({ reason }) =>
    `This account is suspended (${reason}). Contact the operator of the service to have it resumed.`,
  account_already_suspended: ({ reason }) =>
    `The account is already suspended (${reason}). To change the reason, resume it and suspend it again.`,
  account_not_suspended: () => 'The account is not suspended.',
  email_invalid: ({ email }) =>
    [
      `${JSON.stringify(email)} is not an e-mail address such as name@example.com.`,
      'Quotes, comments, % and ! are not accepted.',
    ].join(' '),
  balance_too_high: () => 'The balance would be too large to represent exactly.',
  identity_taken: () => 'This address or Telegram account belongs to another account.',
  too_many_identities: ({ limit }) => `The account already has ${limit} ways to sign in, which is the limit.`,
  session_ended: () => 'You are not signed in, or your session has ended. Sign in again.',

  too_many_codes: ({ retryAfterMs }) =>
    `Too many codes were requested for this address. Try again in ${duration(retryAfterMs)}.`,
  too_many_sign_ins: ({ retryAfterMs }) =>
    `There are too many attempts to sign in at the moment. Try again in ${duration(retryAfterMs)}.`,
  code_not_valid: ({ reason }) => `${CODE_FAULTS[reason]} Request a new one.`,
  code_wrong: ({ triesLeft, codes }) => {
    const fault = codes === 1 ? 'This is not the code' : 'This is neither of the last two codes'
    if (triesLeft === undefined) return `${fault} that this browser requested, or it is no longer valid. ${BUSY}`
    const rest =
      triesLeft === 0 ? 'Request a new one.' : `You have ${triesLeft} more ${triesLeft === 1 ? 'try' : 'tries'}.`
    return `${fault} that this browser requested. ${rest}`
  },
  telegram_not_offered: () => 'This service does not offer sign-in with Telegram.',
  telegram_not_confirmed: () => 'Telegram did not confirm who you are. Try again.',
  registration_closed: ({ mode }) =>
    mode === 'closed'
      ? 'This service opens no new accounts.'
      : 'This service opens accounts only for certain addresses or by invitation. Ask its operator.',
  registrations_full: ({ retryAfterMs, network }) => {
    const whose = network ? ' for your network' : ''
    return `This service opens no more accounts${whose} today. Try again in ${duration(retryAfterMs)}.`
  },

  key_exists: () => 'The account already has this key.',
  key_expired: ({ expiresAt }) => `This API key has expired: it was valid until ${expiresAt}.`,
  live_key_required: () => 'A test key cannot see or change the settings of the account. Use a live key.',
  live_key_not_grantable: () => 'A test key can only create test keys. Use a live key, or send livemode: false.',
  test_key_budget: () => 'A test key spends nothing, so it takes no budget. Leave the budget out.',
  key_scope_not_grantable: ({ scope }) =>
    [
      `A key cannot create a key with the scope "${scope}", so that a leaked one cannot outlive its revocation.`,
      'The owner of the account, signed in, or the operator can.',
    ].join(' '),
  key_expiry_past: ({ expiresAt }) => `The key would have expired already: ${expiresAt} is not in the future.`,
  key_model_unknown: ({ model }) => `There is no model ${JSON.stringify(model)}. Use the IDs of families or endpoints.`,
  key_address_invalid: ({ address }) =>
    `${JSON.stringify(address)} is not an IP address or a CIDR range, such as 203.0.113.7 or 2001:db8::/32.`,
  address_not_allowed: ({ address }) => {
    const from = isIP(address) ? address : 'an unknown address'
    return `This API key may not be used from ${from}: it is restricted to other addresses.`
  },
  model_not_allowed: ({ endpoint, models }) =>
    `This API key may not run ${endpoint}: it is restricted to ${models.join(', ')}.`,
  too_many_keys: ({ limit }) => `The account already has ${limit} active keys; revoke one first.`,

  auditor_exists: ({ name }) => `There already is an auditor ${JSON.stringify(name)} with an active key.`,
  too_many_auditors: ({ limit }) => `There already are ${limit} auditors with active keys; revoke one first.`,
  too_many_reads: ({ retryAfterMs }) => `The auditor reads too much at once. Try again in ${duration(retryAfterMs)}.`,
  verification_running: () => 'Another verification is in progress, and only one runs at a time. Try again later.',

  too_many_references: ({ limit }) => `The account already has ${limit} grants and withdrawals, which is the limit.`,
  refunds_changed: () => 'The account received other refunds at the same time. Try again.',
  refund_too_high: ({ refundableMicros }) =>
    refundableMicros === 0
      ? 'This run has already been refunded in full.'
      : `At most ${fromMicros(refundableMicros)} credits of this run can be refunded.`,

  address_not_public: ({ parameter }) =>
    [
      `${parameter} must have a public host that the operator does not deny:`,
      'the service contacts no local names, no private addresses and no denied ones.',
    ].join(' '),
  file_url_invalid: ({ parameter, fault }) => `${parameter} ${urlFaults[fault]}.`,
  part_too_large: ({ path, limitBytes }) => `${path} is larger than ${limitBytes} bytes.`,

  position_unknown: () => 'No response of this service carried this position.',
  seal_not_found: ({ number }) =>
    number === undefined
      ? 'The log has no seal yet. Try again later: it is sealed every few minutes.'
      : `There is no seal ${number}.`,
  cursor_unknown: () => 'No page of this list had this cursor. Omit it for the first page.',
  revision_unknown: ({ lastRevision }) => `The last event of the account has the revision ${lastRevision}.`,
  time_ahead: ({ now }) => `The time is in the future: it is ${now}.`,
  usage_days_invalid: ({ maxDays }) => `The period must have 1 to ${maxDays} days: to must be a later day than from.`,
  usage_too_large: ({ limit }) =>
    [
      `The period has more than ${limit} combinations of day, model, key and label, which is too many to add up.`,
      'Choose a shorter period, add day to group_by, or leave label out of it.',
    ].join(' '),
  model_waits: ({ endpoint, retryAfterMs }) =>
    `No provider takes runs of ${endpoint} now. Try again in ${duration(retryAfterMs)}; nothing was charged.`,
  too_many_failures: ({ retryAfterMs }) =>
    [
      'Too many runs of the account were cancelled or failed because of their input.',
      `Correct the inputs, and try again in ${duration(retryAfterMs)}.`,
    ].join(' '),
  too_many_test_runs: ({ limit, retryAfterMs }) =>
    limit === 0
      ? 'This service has turned test runs off. Use a live key.'
      : [
          `The account has had ${limit} test runs today, which is its limit for a day in UTC.`,
          `Try again in ${duration(retryAfterMs)}, or use a live key.`,
        ].join(' '),
  too_many_open_runs: ({ limit }) =>
    `The account already has ${limit} runs that have not ended, which is the limit. Try again when some have ended.`,
  too_many_runs_in_flight: ({ of, limit, retryAfterMs }) =>
    [
      `${limited[of]} already has ${plural(limit, 'run')} in flight, which is its limit.`,
      `Try again in ${duration(retryAfterMs)}, or when some of them have ended.`,
    ].join(' '),
  too_many_requests: ({ of, limit, retryAfterMs }) =>
    [
      `${limited[of]} has sent ${limit} requests within a minute, which is its limit.`,
      `Try again in ${duration(retryAfterMs)}; the header RateLimit of each response says how many are left.`,
    ].join(' '),
  open_runs_too_large: ({ limitBytes }) =>
    `The inputs of the account’s open runs would exceed ${limitBytes} bytes. Try again when some have ended.`,
  event_not_found: () => 'The account has no such event.',
  event_not_shown: () =>
    [
      'The event holds an address that may be a secret, and a proof shows all of the event.',
      'A key with the scope "full" can get it.',
    ].join(' '),
  seals_not_in_order: () => 'The first seal must be earlier than the second.',
  event_not_sealed: () => 'No seal covers this event yet. Try again after the next seal, in some minutes.',
  too_many_events: ({ limit }) =>
    `The account has more than ${limit} events. Ask the operator for the proof, which tollgate audit prove makes.`,
  too_many_proofs: () => 'Another proof is being made for the account. Try again when it is done.',
  budget_exceeded: ({ requiredMicros, period, budgetMicros, spentMicros, renewsAt }) =>
    requiredMicros > budgetMicros
      ? [
          `The run costs ${fromMicros(requiredMicros)} credits, which is more than the whole budget of this API key:`,
          `${fromMicros(budgetMicros)} for each ${period}. Use a key with a larger budget.`,
        ].join(' ')
      : [
          `The run costs ${fromMicros(requiredMicros)} credits, and this API key has spent ${fromMicros(spentMicros)}`,
          `of its budget of ${fromMicros(budgetMicros)} credits for ${period === 'day' ? 'today' : `this ${period}`}.`,
          `Wait until the budget renews at ${renewsAt}, or use a key with a larger one.`,
        ].join(' '),
  run_not_charged: () => 'This is a test run: no credits were moved for it.',
  run_exists: () => 'The run already exists.',
  run_not_open: () => 'The run has already ended.',
  run_already_started: () => 'The run has already started.',
  run_not_started: () => 'The run has not started yet.',
  run_already_submitted: () => 'The run was already submitted to its provider.',
  run_not_ended: () => 'The run has not ended yet.',

  webhook_not_pending: () => 'No webhook is due for this run.',
  notice_not_due: () => 'No such notice is due.',
  notice_address_unlinked: () =>
    'Notices are only mailed to an address of the account. Add it at /console/identities, or leave it out.',
  too_many_resends: ({ limit, retryAfterMs }) =>
    [
      `The account had ${limit} webhooks sent again within an hour, which is the limit.`,
      `Try again in ${duration(retryAfterMs)}, or ask the operator to deliver them.`,
    ].join(' '),
  webhook_secret_rotated: ({ retryAfterMs }) =>
    [
      'The webhook secret was already rotated within the last day.',
      `It can be rotated again in ${duration(retryAfterMs)}, when the previous one no longer signs.`,
    ].join(' '),
  too_many_free_events: ({ of, retryAfterMs }) => {
    const { excess, advice } = freeEvents[of]
    return `The account has ${excess} within an hour. Try again in ${duration(retryAfterMs)}. ${advice}`
  },
  too_many_webhook_tests: ({ limit, retryAfterMs }) =>
    `The account may send ${limit} webhook tests an hour. Try again in ${duration(retryAfterMs)}.`,

  upload_exists: () => 'The upload already exists.',
  upload_already_stored: () => 'The file of this upload is already stored.',
  upload_quota_exceeded: ({ quotaBytes }) =>
    [
      `The uploads of the account would exceed its quota of ${inUnits(quotaBytes)}.`,
      'Delete some or wait until they expire.',
      `A presigned URL counts as ${MAX_PRESIGNED_MB} MB until its file is final or the URL expires;`,
      'deleting its upload does not free the space earlier.',
    ].join(' '),
  too_many_arriving_uploads: ({ limit }) =>
    `${limit} uploads of the account are arriving, which is the limit. Send this one when another has arrived.`,
  upload_too_large: ({ limitBytes }) => `A file may be at most ${limitBytes} bytes.`,

  file_empty: () => 'The file is empty.',
  file_too_large: ({ sizeBytes, limitBytes }) => `The file has ${sizeBytes} bytes; the limit is ${limitBytes}.`,
  file_type_not_accepted: facts => typeNotAccepted(facts, acceptedTypes),
  file_type_mismatch: ({ mimeType, declared }) => `The file is ${mimeType}, but was declared as ${declared}.`,
  file_sent_as_other_type: ({ sentAs, declared }) =>
    `The file was sent as ${sentAs}, but was declared as ${declared}. Send it with Content-Type: ${declared}.`,
  file_truncated: ({ mimeType }) => `The file is ${mimeType}, but its end is missing. It may be truncated.`,
  file_ambiguous: ({ mimeType, alsoIs }) => `The file is both ${mimeType} and ${alsoIs}.`,
  file_of_other_kind: ({ kind, mimeType }) =>
    `The file is ${mimeType}, not ${kind === 'image' ? 'an image' : 'a video'}.`,
  data_url_unusable: ({ kind }) =>
    kind === 'image'
      ? 'The data: URL holds no image. Write it as data:image/png;base64,… with the bytes in base64.'
      : 'A video cannot be a data: URL. Upload it, and send the URL of the upload.',
  file_over_limit: ({ limitBytes }) => `The file is larger than ${limitBytes} bytes.`,

  too_many_puts: ({ limit }) =>
    `${limit} files are arriving at this URL, which is the limit. Send this one when another has ended.`,
  put_too_large: ({ limitBytes }) => `The URL accepts at most ${limitBytes} bytes.`,
  put_type_mismatch: ({ sentAs, granted }) => `The URL accepts ${granted}, but ${sentAs} was sent.`,
  put_interrupted: () => 'The upload was interrupted.',

  period_closed: ({ period, closedWith, seal }) =>
    `${period} was closed${closedWith === period ? '' : ` together with ${closedWith}`}, with seal ${seal}.`,
  period_not_over: ({ period, now }) => `${period} is not over: it is ${now}. A period is a month in UTC.`,
  period_before_log: ({ first }) => `The first event of the log is of ${first}, so there is nothing to close before.`,
  period_not_sealed: ({ period, waitedMs }) =>
    [
      `The request to close ${period} is recorded, but no process has sealed the log for ${duration(waitedMs)}.`,
      'Start one with the role sealer, see whether it logs that the log could not be sealed, and repeat the command.',
    ].join(' '),
  period_seal_outdated: () => 'An earlier month was closed at the same time. Repeat the command.',

  provider_unknown: ({ provider, known }) => `There is no provider ${provider}; there are ${known.join(', ')}.`,
  sandbox_not_optional: () =>
    [
      'The sandbox cannot be disabled: it makes samples only while no provider has a key, for models without a',
      'provider if SANDBOX=fallback is set, and for the test family. Remove SANDBOX=fallback to limit it.',
    ].join(' '),
  endpoint_not_bound: ({ endpoint, known }) =>
    known.length > 0
      ? `${endpoint} is a model. Name one of its endpoints: ${known.join(', ')}.`
      : `No provider is bound to an endpoint ${endpoint}; "tollgate bindings list" shows all.`,
  binding_unknown: ({ endpoint, binding, known }) =>
    `${endpoint} has no binding ${binding}; it has ${known.join(', ')}.`,

  callback_not_expected: () => 'No provider sends callbacks to this address.',
  callback_not_signed: () =>
    'The provider has not signed this callback within the last five minutes, or its body was changed on the way.',

  family_exists: () => 'The family is already published.',
  family_unchanged: () => 'The family is already published in this form.',
  family_invalid: ({ fault }) => `The family is not valid: ${describeFamilyFault(fault)}.`,
} satisfies Partial<RefusalWords>

/** A duration in words, rounded up, so that nobody comes back too early. */
const duration = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  if (seconds <= 90) return plural(seconds, 'second')
  const minutes = Math.ceil(ms / 60_000)
  return minutes <= 90 ? plural(minutes, 'minute') : plural(Math.ceil(minutes / 60), 'hour')
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** A number of bytes as people write it. As in UPLOAD_QUOTA, 1 GB is 2³⁰ bytes. */
const inUnits = (bytes: number): string =>
  bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30} GB` : `${Math.round(bytes / 2 ** 20)} MB`

const BUSY = 'At the moment, codes go only to people who have signed in before. Request another in a minute.'

const CODE_FAULTS: Record<CodeFault, string> = {
  unknown: 'This code is not valid here.',
  used: 'This code was used already.',
  tries: 'This code was tried too often.',
  expired: 'This code has expired.',
}

/** Why a URL cannot be requested, or cannot receive webhooks. */
export const urlFaults: Record<WebhookUrlFault, string> = {
  not_http: 'must be an http or https URL',
  host_invalid: 'has no valid host or port',
  credentials: 'must not contain a user name or password, because it is recorded',
  too_long: `must be at most ${MAX_URL_LENGTH} characters long`,
  host_too_long: `must have a host name of at most ${MAX_HOST_LENGTH} characters`,
}
