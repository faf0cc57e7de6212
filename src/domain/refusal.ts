import type { BudgetPeriod } from '../../schemas/account-events.ts'
import type { KeyScope } from '../../schemas/actor.ts'
import type { Fault } from '../../schemas/api/error.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { FreeEvents } from './account/state.ts'
import type { FileKind, FilePlace } from './catalog/inputs.ts'
import type { PacksFault } from './catalog/packs.ts'
import type { FamilyFault } from './catalog/validity.ts'
import type { Decision } from './decider.ts'
import type { HttpUrlFault, WebhookUrlFault } from './http-url.ts'

/** Why a sign-in code is not tried. `unknown` if the identity never had it, or had it for another account. */
export type CodeFault = 'unknown' | 'used' | 'tries' | 'expired'

/**
 * Every reason to refuse a caller, with the facts that explain it. The list is closed. It holds no prose: the tables in
 * `src/transports/refusals/` have a message for every code, in the same order. The only exception is the faults of an
 * input, which are in the words of the JSON Schema validator.
 */
export interface Refusals
  extends AccountRefusals,
    SignInRefusals,
    KeyRefusals,
    BudgetRefusals,
    LedgerRefusals,
    PurchaseRefusals,
    AuditRefusals,
    CatalogRefusals,
    SaleRefusals,
    ProviderRefusals,
    RunRefusals,
    WebhookRefusals,
    UploadRefusals,
    FileRefusals {}

export interface AccountRefusals {
  account_exists: object
  account_not_found: object
  /** The caller owns the account. */
  account_suspended: { reason: string }
  account_already_suspended: { reason: string }
  account_erased: Record<never, never>
  account_not_suspended: object
  account_has_open_runs: { openRuns: number }
  too_many_requests: { of: 'key' | 'account'; limit: number; retryAfterMs: number }
  /** Events that cost the owner nothing. */
  too_many_free_events: { of: FreeEvents; retryAfterMs: number }
  /** The notice was raised before, is not due yet, or its attempt is recorded. */
  notice_not_due: object
  /** Mail is to go to an address that is none of the account's identities. */
  notice_address_unlinked: object
}

export interface SignInRefusals {
  email_invalid: { email: string }
  /** The identity belongs to another account. */
  identity_taken: object
  too_many_identities: { limit: number }
  /** The session was closed or has expired. */
  session_ended: object
  /** The last code was entered too long ago for what the caller wants. */
  fresh_code_required: object
  /** The account has no address that could receive a code. */
  no_address: object
  /** The identity has asked for too many codes. */
  too_many_codes: { retryAfterMs: number }
  /** The client, or all clients together, sign in too often. */
  too_many_sign_ins: { retryAfterMs: number }
  /** No code of the identity can be tried under this id. */
  code_not_valid: { reason: CodeFault }
  /**
   * The entered text matches none of this many codes. `triesLeft` is missing where a caller may not learn whether there
   * is a code.
   */
  code_wrong: { triesLeft?: number; codes: number }
  /** The service does not use Telegram. */
  telegram_not_offered: object
  /** The answer that a browser brought back from Telegram proves no identity. */
  telegram_not_confirmed: object
  /** Nobody may open an account with the identity. */
  registration_closed: { mode: 'open' | 'invite' | 'closed' }
  /** Too many accounts were opened today. */
  registrations_full: { retryAfterMs: number; network?: true }
}

export interface KeyRefusals {
  /** The caller may not do this. `scope` is that of its key, if it has one. */
  forbidden: { scope: KeyScope | undefined }
  key_exists: object
  key_not_found: object
  /** The caller's own key, which was active when the request began. */
  key_revoked: object
  key_expired: { expiresAt: string }
  too_many_keys: { limit: number }
  /** A test key cannot create a live key. */
  live_key_not_grantable: object
  live_key_required: object
  /** A test key spends nothing. */
  test_key_budget: object
  /** A key cannot create a key of this scope. */
  key_scope_not_grantable: { scope: KeyScope }
  /** The new key would have expired already. */
  key_expiry_past: { expiresAt: string }
  /** `index` is the place in the list. */
  key_model_unknown: { index: number; model: string }
  key_address_invalid: { index: number; address: string }
  /** The key is restricted to other addresses. */
  address_not_allowed: { address: string }
  /** The key is restricted to other models. */
  model_not_allowed: { endpoint: string; models: string[] }
}

export interface BudgetRefusals {
  /** `renewsAt` is when the next period of the budget begins; missing if the budget is for once. */
  budget_exceeded: (
    | { of: 'key'; period: BudgetPeriod; renewsAt: string }
    | { of: 'budget'; name: string; period?: BudgetPeriod; renewsAt?: string }
  ) & { requiredMicros: number; budgetMicros: number; spentMicros: number }
  budget_not_found: object
  /** A run names a budget that the account does not have. */
  run_budget_unknown: { name: string }
  too_many_budgets: { limit: number }
}

/** Where an operator grants credits to an account: in the data folder of the service. */
export interface GrantPlace {
  accountId: AccountId
  folder: string
}

/** Credits that the caller can buy at an address. Without `pack`, it is a custom amount. */
export interface CreditsOffer {
  pack?: string
  name: string
  creditsMicros: number
  bonusMicros: number
  amount: string
  currency: string
  validDays?: number
  buyUrl: string
}

export interface LedgerRefusals {
  balance_too_high: { balanceMicros: number }
  /**
   * `grantTo` is set if the service is on the machine of the caller, who can grant credits there. `offers` are set if
   * the caller can buy credits.
   */
  insufficient_credits: { requiredMicros: number; balanceMicros: number; grantTo?: GrantPlace; offers?: CreditsOffer[] }
  lot_not_found: { lots: number }
  lot_expired: object
  /** The lot would expire earlier than now, or never expires. */
  lot_not_extended: { expiresAt: string | undefined }
  /** The lot does not expire now, and no notice of its expiry is due. */
  lot_not_due: object
  reference_mismatch: { amountMicros: number }
  too_many_references: { limit: number }
  refunds_changed: object
  refund_too_high: { refundableMicros: number }
  /** A test run, which moves no credits. */
  run_not_charged: object
  /** No event has this position: the log ends before it. */
  position_unknown: object
  /** The cursor names no item of the list. */
  cursor_unknown: object
  /** The account has no event with this revision yet. */
  revision_unknown: { lastRevision: number }
  /** The time is in the future. */
  time_ahead: { now: string }
  /** Usage is asked for of no day, or of too many. */
  usage_days_invalid: { maxDays: number }
  /** Usage has too many rows to be added up. */
  usage_too_large: { limit: number }
}

export interface PurchaseRefusals {
  /** The payment service has not signed the report, or not within the last five minutes. */
  report_not_signed: { fault: 'missing' | 'old' | 'forged' }
  /** The payment service has signed the report, but it is not as documented. */
  report_unreadable: object
  /** A purchase needs either a pack or an amount of credits. */
  purchase_ambiguous: object
  /** No browser should be sent to this address. */
  return_url_invalid: { parameter: 'success_url' | 'cancel_url'; fault: WebhookUrlFault }
  /** The payment service cannot take this amount. */
  amount_not_payable: { reason: string }
  purchase_not_found: object
  purchase_not_paid: object
  /** Within the days for withdrawal, nothing begins unless the customer asks for it. */
  begin_at_once_required: { days: number }
  /** The purchase is not paid, or the payment service has no invoice for it. */
  invoice_not_found: object
  /** The number of questions to the payment service is limited for each account. */
  too_many_invoices: { retryAfterMs: number }
  too_many_purchases: { limit: number; retryAfterMs: number }
  /** Credits of a disputed payment were used. */
  credits_owed: { owedMicros: number; offers?: CreditsOffer[] }
  /** No paid purchase has a payment method that was kept. */
  no_kept_method: object
  /** The payment service computes the tax on its own pages only, or sells there itself. */
  top_ups_unavailable: object
  /** A top-up can cost more than the monthly amount. */
  monthly_amount_too_low: { price: string; currency: string }
  monthly_amount_invalid: { currency: string }
  target_too_low: { underMicros: number }
  top_up_not_found: object
  /** Top-ups need either an amount or a target. */
  top_up_ambiguous: object
  /** Another process has settled it, or its time has not come. */
  top_up_not_due: object
  /** The payment is too small for a claim and for these refunds, which were requested and not made. */
  refunds_uncovered: { refunds: { claimId: string; amount: string; currency: string }[] }
  /** `most` is the price of the credits that are left. */
  refund_above_rest: { most: string; currency: string }
  /** The purchase has no right of withdrawal, such as one between businesses. */
  withdrawal_not_offered: object
  withdrawal_too_late: { endsAt: string }
}

export interface AuditRefusals {
  /** An active auditor has this name, or this id. */
  auditor_exists: { name: string }
  auditor_not_found: object
  too_many_auditors: { limit: number }
  /** The auditor reads faster than it may. */
  too_many_reads: { retryAfterMs: number }
  /** A verification is already in progress in this process. */
  verification_running: { retryAfterMs: number }
  /** Without a number: the log has no seal yet. */
  seal_not_found: { number: number | undefined }
  /** The seals are not in order. */
  seals_not_in_order: object
  event_not_found: object
  /** A key with the scope `read` may not see all that the event holds. */
  event_not_shown: object
  /** No seal covers the event yet. */
  event_not_sealed: object
  too_many_events: { limit: number }
  too_many_proofs: { retryAfterMs: number }
  /** Of a period that was closed with a later one, `closedWith` is that one. */
  period_closed: { period: string; closedWith: string; seal: number }
  /** `now` is the time by the clock that says so. */
  period_not_over: { period: string; now: string }
  /** The log began after the period. */
  period_before_log: { first: string }
  /** No seal covers the request to close the period yet. */
  period_not_sealed: { period: string; waitedMs: number }
  /** An earlier month was closed with a later seal meanwhile. */
  period_seal_outdated: object
}

export interface CatalogRefusals {
  /** `replacedBy` is the family that replaces a withdrawn model. */
  model_not_found: { model: string; replacedBy: string | undefined }
  /** The same, for a filter in the list of models. */
  model_not_listed: { model: string; replacedBy: string | undefined }
  /** No provider that is configured runs the endpoint. */
  model_not_served: { endpoint: string; retryAfterMs: number }
  /** Providers run the endpoint, and none of them takes a job now. */
  model_waits: { endpoint: string; retryAfterMs: number }
  kind_not_offered: { model: string; kinds: string[] }
  family_exists: object
  family_not_found: object
  family_unchanged: object
  family_changed: object
  family_invalid: { fault: FamilyFault }
}

export interface SaleRefusals {
  packs_unchanged: object
  packs_invalid: { fault: PacksFault }
  nothing_for_sale: object
  /** `known` are the packs for sale. */
  pack_unknown: { pack: string; known: readonly string[] }
  /** Without bounds, credits are for sale only in packs. */
  amount_out_of_bounds: { bounds: { minMicros: number; maxMicros: number } | undefined; known: readonly string[] }
}

export interface ProviderRefusals {
  provider_unknown: { provider: string; known: readonly string[] }
  /** The sandbox is no provider that can be turned off. */
  sandbox_not_optional: object
  /** `known` are the endpoints of the model, if `endpoint` is one. */
  endpoint_not_bound: { endpoint: string; known: readonly string[] }
  /** `binding` is as the operator gave it. */
  binding_unknown: { endpoint: string; binding: string; known: readonly string[] }
  /** No provider sends callbacks to this address. */
  callback_not_expected: object
  callback_not_signed: object
}

export interface RunRefusals {
  /** `faults` are relative to the input. */
  input_invalid: { endpoint: string; faults: Fault[] }
  input_file_refused: { parameter: FilePlace; reason: FileRefusal }
  /** `path` is a JSON Pointer to the part of the request. */
  /** The account's runs in progress have long inputs, of as many bytes as the service keeps in memory. */
  long_inputs_at_limit: { limitBytes: number }
  part_too_large: { path: string; limitBytes: number }
  /** `parameter` holds a URL whose host is literally not public. */
  address_not_public: { parameter: UrlParameter | FilePlace }
  file_url_invalid: { parameter: FilePlace; fault: HttpUrlFault }
  /** The result of the endpoint is not text. */
  stream_not_offered: { endpoint: string }
  /** The run of an endpoint that is not kept would have to wait for its end without its client. */
  store_not_async: { endpoint: string }
  /** A webhook would come without the result of a run that is not kept. */
  store_without_webhook: object
  /** `max_credits` has more than six decimals. */
  max_credits_too_fine: object
  /** The run can cost more than the request allows. */
  price_above_limit: { requiredMicros: number; maxMicros: number }
  /** Since the request was checked, the account was set to keep nothing of its runs. */
  retention_changed: { retryAfterMs: number }
  idempotency_mismatch: object
  /** The account has had its test runs of this UTC day. */
  too_many_test_runs: { limit: number; retryAfterMs: number }
  /** Too many runs have failed through the account's own fault. */
  too_many_failures: { retryAfterMs: number }
  too_many_open_runs: { limit: number }
  /** Of the key that asks, or of its account. */
  too_many_runs_in_flight: { of: 'key' | 'account'; limit: number; retryAfterMs: number }
  open_runs_too_large: { limitBytes: number }
  run_exists: object
  run_not_found: object
  run_not_open: object
  run_already_started: object
  run_not_started: object
  run_already_submitted: object
  run_not_ended: object
}

export interface WebhookRefusals {
  webhook_url_invalid: { parameter: UrlParameter; url: string; fault: WebhookUrlFault }
  webhook_not_found: object
  webhook_not_pending: object
  webhook_pending: object
  /** The owner of the account has had many webhooks sent again within the hour. */
  too_many_resends: { limit: number; retryAfterMs: number }
  /** The secret before the last rotation still signs. */
  webhook_secret_rotated: { retryAfterMs: number }
  /** Of an account within an hour. */
  too_many_webhook_tests: { limit: number; retryAfterMs: number }
}

export interface UploadRefusals {
  upload_exists: object
  upload_not_found: object
  /** Granted, but no file has arrived. */
  upload_not_sent: object
  upload_already_stored: object
  too_many_uploads: { limit: number }
  upload_quota_exceeded: { quotaBytes: number }
  /** Files of the account that are not whole yet. */
  too_many_arriving_uploads: { limit: number }
  /** The client declared a file over the limit. */
  upload_too_large: { limitBytes: number }
  declared_type_not_accepted: { declared: string }
  declared_type_unspecific: { declared: string }
  /** This service did not issue the presigned address. */
  put_address_invalid: object
  put_address_expired: object
  /** The upload was deleted, or the key that asked for the address was revoked. */
  put_address_withdrawn: object
  /** Files that arrive at the same presigned address. */
  too_many_puts: { limit: number }
  put_too_large: { limitBytes: number }
  put_type_mismatch: { sentAs: string; granted: string }
  put_interrupted: object
}

export interface FileRefusals {
  file_empty: object
  file_too_large: { sizeBytes: number; limitBytes: number }
  /** `mimeType` is missing for bytes of no known type. */
  file_type_not_accepted: { mimeType?: string }
  file_type_mismatch: { mimeType: string; declared: string }
  /** The client sent the file to the object store under another type than it declared. */
  file_sent_as_other_type: { sentAs: string; declared: string }
  file_truncated: { mimeType: string }
  /** A file that can be read as two types at once. */
  file_ambiguous: { mimeType: string; alsoIs: string }
  /** A video instead of an image, or an image instead of a video. */
  file_of_other_kind: { kind: FileKind; mimeType: string }
  file_not_found: object
  data_url_unusable: { kind: FileKind }
  file_over_limit: { limitBytes: number }
}

/** A parameter that holds the URL of a receiver. */
type UrlParameter = 'webhook_url' | 'url'

export type RefusalCode = keyof Refusals

/** A refusal is a value: the request is understood, and the answer is no. */
export type Refusal = { [Code in RefusalCode]: { code: Code } & Refusals[Code] }[RefusalCode]

/** A decision of one of the deciders in this folder. */
export type Decided<Event> = Decision<Event, Refusal>

export const refuse = <Code extends RefusalCode>(
  code: Code,
  ...details: object extends Refusals[Code] ? [] : [Refusals[Code]]
): { refuse: Refusal } => ({ refuse: { code, ...details[0] } as Refusal })

/** A refusal of one of some codes. */
export type RefusalOf<Code extends RefusalCode> = Extract<Refusal, { code: Code }>

/** Why a file cannot be sent to a presigned address. */
export type PutRefusal = RefusalOf<
  | 'put_address_invalid'
  | 'put_address_expired'
  | 'put_address_withdrawn'
  | 'account_suspended'
  | 'too_many_puts'
  | 'put_too_large'
  | 'put_type_mismatch'
  | 'put_interrupted'
>

/** Why the bytes of a file cannot be accepted. */
export type ContentRefusal = RefusalOf<
  | 'file_empty'
  | 'file_too_large'
  | 'file_type_not_accepted'
  | 'file_type_mismatch'
  | 'file_sent_as_other_type'
  | 'file_truncated'
  | 'file_ambiguous'
>

/** Why a file of this service cannot be used as an input. */
export type FileRefusal = RefusalOf<keyof FileRefusals | 'upload_not_found' | 'upload_not_sent'>
