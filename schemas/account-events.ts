import { type Static, Type } from 'typebox'
import { KeyScope } from './actor.ts'
import { Mode, Receipt, Retry, TokenUsage } from './catalog.ts'
import { ToolCall } from './conversation.ts'
import { Identity, TelegramIdentity } from './identity.ts'
import {
  NoticeAbandoned,
  NoticeAttemptFailed,
  NoticeDelivered,
  NoticeRaised,
  NoticeSettings,
  NoticesSet,
} from './notice-events.ts'
import {
  AccountId,
  Attempt,
  AttemptReason,
  Closed,
  Currency,
  Day,
  type EventUnion,
  HttpStatus,
  KeyId,
  Label,
  Livemode,
  MAX_FILENAME_LENGTH,
  MAX_FOLDER_LENGTH,
  MAX_KEY_ADDRESSES,
  MAX_KEY_MODELS,
  MAX_REASON_LENGTH,
  MAX_RECORDED_NAME_LENGTH,
  MAX_REFERENCE_LENGTH,
  MAX_REFERENCES,
  Micros,
  type Moded,
  MoneyAmount,
  OneOf,
  PositiveMicros,
  RunId,
  SessionId,
  Sha256,
  Slug,
  Timestamp,
  UploadId,
} from './primitives.ts'
import { purchaseEvents } from './purchase-events.ts'
import type { AnyEvent } from './recorded.ts'
import { topUpEvents } from './top-up-events.ts'
import { WebhookSecretRotated, WebhookTested, WebhookTestRequested } from './webhook-events.ts'

/**
 * `identity` replaces `email` if an identity of another kind opened the account. An account without `notices` gets none
 * until they are set.
 */
export const AccountOpened = Closed({
  accountId: AccountId,
  email: Type.Optional(Type.String()),
  identity: Type.Optional(TelegramIdentity),
  tester: Type.Boolean(),
  notices: Type.Optional(NoticeSettings),
})

const Reason = Type.String({ minLength: 1, maxLength: MAX_REASON_LENGTH })

/** From here on, the owner's requests are refused. Accepted runs continue. */
export const AccountSuspended = Closed({ reason: Reason })
export const AccountResumed = Closed({ reason: Reason })

/**
 * The account is closed for good, and its personal data is to be erased: its files, its rows in the views, and the key
 * under which the log holds the rest. Its credits stay, so that every number can still be explained.
 */
export const AccountErased = Closed({ reason: Reason })
/** The personal data of the account is gone. */
export const ErasureCompleted = Closed({})

/** Whether the account may see and run the families that are for testers, from here on. */
export const TesterSet = Closed({ tester: Type.Boolean() })

/** The highest limit that an operator may set for an account. */
export const MAX_LIMIT = 1_000_000_000
const Limit = Type.Integer({ minimum: 1, maximum: MAX_LIMIT })
/** Limits of an account that differ from the defaults. All keys of the account share them. */
export const AccountLimits = Closed({ requestsPerMinute: Type.Optional(Limit), runsInFlight: Type.Optional(Limit) })
export type AccountLimits = Static<typeof AccountLimits>

/** Replaces all earlier limits. A missing limit has its default. */
export const LimitsSet = AccountLimits

/** With `days: 0`, the service keeps nothing of the account's runs from here on; without `days`, as much as usual. */
export const RetentionSet = Closed({ days: Type.Optional(Type.Literal(0)), reason: Reason })

/** The reason for a grant, or of the grants that a withdrawal takes back. */
export const GRANT_KINDS = ['welcome', 'purchase', 'courtesy', 'correction'] as const
export const GrantKind = OneOf(...GRANT_KINDS)
export type GrantKind = Static<typeof GrantKind>

/** The payment for credits: a decimal amount, its currency (ISO 4217), and the invoice, if there is one. */
export const Payment = Closed({
  amount: MoneyAmount,
  currency: Currency,
  invoice: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH })),
  /** The tax in the amount, if it is known. */
  tax: Type.Optional(MoneyAmount),
})
export type Payment = Static<typeof Payment>

/** `reference` is unique among the account's grants and withdrawals, so that none is recorded twice. */
const grant = {
  amountMicros: PositiveMicros,
  balanceAfterMicros: Micros,
  kind: GrantKind,
  reference: Type.String({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH }),
  reason: Reason,
}
/** The credits of the account's first grant are lot 1, those of the second grant are lot 2, and so on. */
export const LotNumber = Type.Integer({ minimum: 1, maximum: MAX_REFERENCES })
/** Credits that a run uses of a lot, or returns to it. */
const LotUse = Closed({ lot: LotNumber, amountMicros: PositiveMicros })
export type LotUse = Static<typeof LotUse>

/**
 * Only purchases have a `payment`. Old purchases have none, and old grants no `lot`. With the `lot` of an earlier
 * grant, the credits return to that lot.
 */
export const CreditsGranted = Closed({
  ...grant,
  payment: Type.Optional(Payment),
  lot: Type.Optional(LotNumber),
  expiresAt: Type.Optional(Timestamp),
})
/** Reverses a mistaken grant, or a returned payment. With `lot`, it takes only credits of this lot. */
export const CreditsWithdrawn = Closed({ ...grant, lot: Type.Optional(LotNumber) })

/** The credits that were left of a lot have expired, or those that a refund has returned to an expired lot. */
export const CreditsExpired = Closed({ lot: LotNumber, amountMicros: Micros, balanceAfterMicros: Micros })

/** The operator has postponed the expiry of a lot; without `expiresAt`, it never expires. */
export const LotExtended = Closed({ lot: LotNumber, expiresAt: Type.Optional(Timestamp), reason: Reason })

/** The calendar periods of budgets, in UTC. Weeks begin on Monday. */
export const BUDGET_PERIODS = ['day', 'week', 'month'] as const
const BudgetPeriod = OneOf(...BUDGET_PERIODS)
export type BudgetPeriod = Static<typeof BudgetPeriod>

/** The most that a key may debit in a period. */
export const Budget = Closed({ amountMicros: PositiveMicros, period: BudgetPeriod })
export type Budget = Static<typeof Budget>

/**
 * A budget that runs can name. The name of an existing budget changes it. Debits count under `number`, which stays the
 * same with another amount. With another period, or after a removal, the count begins anew. Without a `period`, the
 * amount is for once.
 */
export const BudgetSet = Closed({
  name: Label,
  number: Type.Integer({ minimum: 1 }),
  amountMicros: PositiveMicros,
  period: Type.Optional(BudgetPeriod),
})
/** No further run may name the budget. */
export const BudgetRemoved = Closed({ name: Label })

/** The named budget that a debit counts in, and the first day of the period unless the budget is for once. */
export const BudgetUse = Closed({
  name: Label,
  number: Type.Integer({ minimum: 1 }),
  firstDay: Type.Optional(Day),
})
export type BudgetUse = Static<typeof BudgetUse>

/** The limits of a key, in addition to its scope. */
const keyLimits = {
  /** From this time on, the key is refused. */
  expiresAt: Type.Optional(Timestamp),
  budget: Type.Optional(Budget),
  /** The IDs of the families and endpoints that the key may run. */
  models: Type.Optional(Type.Array(Slug, { minItems: 1, maxItems: MAX_KEY_MODELS })),
  /** CIDR ranges. The key works only from addresses in them. */
  addresses: Type.Optional(
    Type.Array(Type.String({ minLength: 4, maxLength: 43 }), { minItems: 1, maxItems: MAX_KEY_ADDRESSES }),
  ),
}
const KeyLimits = Closed(keyLimits)
export type KeyLimits = Static<typeof KeyLimits>

export const ApiKeyCreated = Closed({
  keyId: KeyId,
  name: Type.String({ minLength: 1, maxLength: MAX_RECORDED_NAME_LENGTH }),
  hash: Sha256,
  lastFour: Type.String({ minLength: 4, maxLength: 4 }),
  /** Missing from keys older than scopes, which count as `full`. */
  scope: Type.Optional(KeyScope),
  /** A test key has no budget, because it spends nothing. */
  livemode: Livemode,
  ...keyLimits,
})
export const ApiKeyRevoked = Closed({ keyId: KeyId, hash: Sha256 })
/** The first answered request with the key in a UTC day. */
export const ApiKeyUsed = Closed({ keyId: KeyId, hash: Sha256 })

/** A further identity of the account, which brings it no credits. */
export const IdentityLinked = Closed({ identity: Identity })

/**
 * The owner signed in. A session is never extended: another sign-in opens another session. `place` says from which
 * network and browser, for the owner alone: it is encrypted with a key from the master secret. Old sessions have none.
 */
export const SessionOpened = Closed({
  sessionId: SessionId,
  expiresAt: Timestamp,
  place: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{40,400}$' })),
})

/** The owner entered another code in the browser of the session, and may again do what needs a fresh one. */
export const SessionConfirmed = Closed({ sessionId: SessionId })

/**
 * `signed_out`: in the browser of the session; `signed_out_everywhere`: from another browser; `renewed`: the browser
 * signed in again; `displaced`: the account had too many sessions, and this was the oldest.
 */
export const SESSION_ENDINGS = ['signed_out', 'signed_out_everywhere', 'renewed', 'displaced'] as const
export const SessionClosed = Closed({ sessionId: SessionId, reason: OneOf(...SESSION_ENDINGS) })

/** `label` is the client's own name for the purpose of the run. It belongs to the charge, so the debit has it. */
export const CreditsDebited = Closed({
  runId: RunId,
  amountMicros: PositiveMicros,
  balanceAfterMicros: Micros,
  receipt: Receipt,
  label: Type.Optional(Label),
  budget: Type.Optional(BudgetUse),
})
/**
 * The run of a debit, and the key that caused it, if a key did. If the key has a budget, `budgetPeriod` is the first
 * day of the period in which the debit counts.
 */
export const DebitFacts = Closed({
  model: Slug,
  endpoint: Slug,
  keyId: Type.Optional(KeyId),
  label: Type.Optional(Label),
  budgetPeriod: Type.Optional(Day),
  budget: Type.Optional(BudgetUse),
})
export type DebitFacts = Static<typeof DebitFacts>

/** The reasons for which runs fail. The list is closed and part of the API. */
export const runErrorCodes = [
  'model_not_found',
  'content_rejected',
  'provider_error',
  'provider_timeout',
  'interrupted',
  'invalid_input',
  'cancelled',
] as const
export const RunErrorCode = OneOf(...runErrorCodes)
export type RunErrorCode = Static<typeof RunErrorCode>

/**
 * A failed run is refunded in full when it fails. An operator may refund a completed run, also in part. So that a
 * refund explains itself, `debit` repeats facts of the debit, and `error` the code of the failure. The oldest refunds
 * have neither.
 */
export const CreditsRefunded = Closed({
  runId: RunId,
  amountMicros: PositiveMicros,
  balanceAfterMicros: Micros,
  reason: Reason,
  debit: Type.Optional(DebitFacts),
  error: Type.Optional(RunErrorCode),
  /** The lots that get the credits back, if the run had ended before. Missing from old refunds. */
  lots: Type.Optional(Type.Array(LotUse, { minItems: 1 })),
})

/**
 * Returns what a run did not need of the most that its tokens could cost. `receipt` is the calculation of what the run
 * did cost, and `debit` repeats facts of the debit. The end of the run follows in the same append.
 */
export const CreditsReleased = Closed({
  runId: RunId,
  amountMicros: PositiveMicros,
  balanceAfterMicros: Micros,
  receipt: Receipt,
  debit: DebitFacts,
})

/** An idempotency key within its mode. Clients' keys have no spaces, so the two modes cannot collide. */
export const requestNameOf = (key: string, { livemode }: Moded): string => (livemode === false ? `test ${key}` : key)

const ObjectKey = Type.String({ minLength: 1, maxLength: 255 })
export const MAX_MIME_TYPE_LENGTH = 100
const MimeType = Type.String({ minLength: 1, maxLength: MAX_MIME_TYPE_LENGTH })
const SizeBytes = Type.Integer({ minimum: 0 })

export const C2pa = OneOf('present', 'absent')
export type C2pa = Static<typeof C2pa>

/**
 * A file of a run in the object store. Addresses are derived from the key on each read, so the log stays valid if the
 * store moves.
 */
export const Artifact = Closed({
  objectKey: ObjectKey,
  mimeType: MimeType,
  sizeBytes: SizeBytes,
  sha256: Sha256,
  /** Whether the file has a C2PA manifest, which may be false. Missing from older events, and from inputs. */
  c2pa: Type.Optional(C2pa),
})
export type Artifact = Static<typeof Artifact>

/** The client's key for a request, and a digest that tells a repeat from another request. */
export const Idempotency = Closed({ key: Type.String({ pattern: '^[!-~]{1,255}$' }), requestHash: Sha256 })
export type Idempotency = Static<typeof Idempotency>

/**
 * `input` is the client's input with defaults. `inputFiles` are the images whose addresses its messages hold in place
 * of `data:` URLs. A test run has no debit, so this event carries its hypothetical receipt
 * and its label.
 */
export const RunQueued = Closed({
  runId: RunId,
  model: Slug,
  endpoint: Slug,
  mode: Mode,
  timeoutMs: Type.Integer({ minimum: 1 }),
  retry: Type.Optional(Retry),
  input: Type.Record(Type.String(), Type.Unknown()),
  inputFiles: Type.Optional(Type.Array(Artifact, { minItems: 1 })),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  webhookUrl: Type.Optional(Type.String()),
  idempotency: Type.Optional(Idempotency),
  livemode: Livemode,
  receipt: Type.Optional(Receipt),
  label: Type.Optional(Label),
})
export type RunQueued = Static<typeof RunQueued>

/** A model at a provider. `account` identifies one of the operator's accounts there. It is not a secret. */
export const Upstream = Closed({
  provider: Slug,
  model: Type.String({ minLength: 1, maxLength: 200 }),
  account: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
})
export type Upstream = Static<typeof Upstream>

/** The upstream that did the work of a run, or failed last. */
const WorkedUpstream = Closed({
  ...Upstream.properties,
  /** The version of the model, if the provider reports it. */
  version: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
})
export type WorkedUpstream = Static<typeof WorkedUpstream>

/** `false` if nothing of a run is kept: only the input that the receipt tells too, no metadata, and no texts. */
const Store = Type.Optional(Type.Literal(false))
/** A run that is not kept cannot wait in the queue. */
export type AcceptedRun = RunQueued & { store?: false }

/**
 * `upstream` is the first to be tried. A run that starts in the append that accepts it has no RunQueued, so this event
 * also holds the fields of RunQueued.
 */
export const RunStarted = Type.Union([
  Closed({ ...RunQueued.properties, store: Store, upstream: Upstream }),
  Closed({ runId: RunId, upstream: Upstream }),
])
export type RunStarted = Static<typeof RunStarted>

/** Whether an event accepts a run: queues the run, or starts it at once. */
export const isAcceptance = <Event extends AnyEvent>(event: Event): event is Event & { data: AcceptedRun } =>
  event.type === 'RunQueued' || (event.type === 'RunStarted' && 'input' in (event.data as RunStarted))

/** The faults of providers that an account's owner may know. Others are those of the operator's account there. */
export const SHOWN_FAULTS = ['rate_limited', 'overloaded', 'unreachable'] as const
const AttemptFailure = OneOf(...SHOWN_FAULTS, ...runErrorCodes)
export type AttemptFailure = Static<typeof AttemptFailure>

/**
 * An attempt to hand a run to a provider. Without `failedAt`, the provider took the run, or had not answered when the
 * run ended. `status` is that of the provider's response; a `provider_error` has none, because it could tell how the
 * operator stands with the provider.
 */
const RunAttempt = Closed({
  ...Upstream.properties,
  startedAt: Timestamp,
  failedAt: Type.Optional(Timestamp),
  status: Type.Optional(HttpStatus),
  reason: Type.Optional(AttemptFailure),
})
export type RunAttempt = Static<typeof RunAttempt>

/** The attempts that an event holds, the last ones. An endpoint may retry ten times, at each of its bindings. */
export const MAX_RUN_ATTEMPTS = 30

/** All attempts, if one of them failed. The last is that of `upstream`. */
const attempts = Type.Optional(Type.Array(RunAttempt, { minItems: 1, maxItems: MAX_RUN_ATTEMPTS }))

/** `upstream` accepted the job. */
export const RunSubmitted = Closed({
  runId: RunId,
  jobId: Type.String({ minLength: 1, maxLength: 255 }),
  upstream: Upstream,
  attempts,
})

/** The client asked to cancel a started run. The run continues if the provider cannot stop it. */
export const RunCancelRequested = Closed({ runId: RunId })

/** `willDeleteAt`: when the artifacts, if any, will be deleted. */
export const RunOutput = Closed({
  artifacts: Type.Array(Artifact),
  text: Type.Optional(Type.String()),
  toolCalls: Type.Optional(Type.Array(ToolCall, { minItems: 1 })),
  willDeleteAt: Type.Optional(Timestamp),
})
export type RunOutput = Static<typeof RunOutput>

export const RunError = Closed({ code: RunErrorCode, message: Type.String({ minLength: 1, maxLength: 1000 }) })
export type RunError = Static<typeof RunError>

/** The most quantities that a provider bills. Their names are the provider's. */
export const MAX_BILLED_UNITS = 32
export const MAX_UNIT_LENGTH = 64
const BilledUnits = Type.Record(
  Type.String({ minLength: 1, maxLength: MAX_UNIT_LENGTH }),
  Type.Number({ minimum: 0 }),
  { maxProperties: MAX_BILLED_UNITS },
)

/** The provider reported the amount, or the amount follows from the price list of a binding, or it is unknown. */
const COST_SOURCES = ['reported', 'price_list', 'unknown'] as const

/** The vendor's charge for a run, which the operator pays. It moves no credits. Customers see its digest. */
const cost = {
  units: Type.Optional(BilledUnits),
  /** In millionths of the currency. */
  amountMicros: Type.Optional(Micros),
  currency: Type.Optional(Currency),
  source: OneOf(...COST_SOURCES),
  /** 128 random bits, so that the amount cannot be found from the digest by trying. */
  salt: Type.String({ pattern: '^[0-9a-f]{32}$' }),
}
const ProviderCost = Closed(cost)
export type ProviderCost = Static<typeof ProviderCost>

/**
 * Older events, and failures of runs that reached no upstream, name no upstream. `cost` is the upstream's charge, and
 * `usage` the tokens of a text model. `attempts` are those of a run that became no job.
 */
export const RunCompleted = Closed({
  runId: RunId,
  output: RunOutput,
  upstream: Type.Optional(WorkedUpstream),
  attempts,
  /** How long the files took to store, once the provider had answered. */
  storingMs: Type.Optional(Type.Integer({ minimum: 0 })),
  cost: Type.Optional(ProviderCost),
  usage: Type.Optional(TokenUsage),
  /** Why the text is not complete; missing if it is. */
  finishReason: Type.Optional(OneOf('length', 'cancelled')),
})
export type RunCompleted = Static<typeof RunCompleted>
/** `willDeleteAt`: when any files of the run will be deleted; missing if the run cannot have stored files. */
export const RunFailed = Closed({
  runId: RunId,
  error: RunError,
  upstream: Type.Optional(WorkedUpstream),
  attempts,
  willDeleteAt: Type.Optional(Timestamp),
})
/**
 * The cost of a failed run, or of any run before format 3. It follows the events that end the run in the same append.
 */
export const ProviderCostRecorded = Closed({ runId: RunId, ...WorkedUpstream.properties, ...cost })
export type ProviderCostRecorded = Static<typeof ProviderCostRecorded>

/** The cost of a run in an event, which may not be checked yet; undefined for events without a cost. */
export const costOf = ({ type, data }: AnyEvent): ProviderCostRecorded | undefined => {
  if (type === 'ProviderCostRecorded') return data as ProviderCostRecorded
  if (type !== 'RunCompleted') return undefined
  const { runId, upstream, cost } = (data ?? {}) as RunCompleted
  return upstream && cost && { runId, ...upstream, ...cost }
}

/** The artifacts, or files that a failed run may have left, were deleted from the object store. */
export const RunOutputDeleted = Closed({ runId: RunId })

/** The runs of one event, so that neither its append nor its fold takes long: the row of a run may hold a long text. */
export const MAX_ARCHIVED_RUNS = 25
const ArchivedRun = Closed({
  runId: RunId,
  revisions: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }),
})
export type ArchivedRun = Static<typeof ArchivedRun>
/** Runs that ended long ago leave the lists. `revisions` are those of the events that made the row of a run. */
export const RunsArchived = Closed({
  runs: Type.Array(ArchivedRun, { minItems: 1, maxItems: MAX_ARCHIVED_RUNS }),
})

// Each webhook attempt is an event.
export const WebhookDelivered = Closed({ runId: RunId, attempt: Attempt, status: HttpStatus })
/** `status` is missing if there was no response, and `nextAttemptAt` after the last attempt. */
export const WebhookAttemptFailed = Closed({
  runId: RunId,
  attempt: Attempt,
  status: Type.Optional(HttpStatus),
  reason: AttemptReason,
  nextAttemptAt: Type.Optional(Timestamp),
})
export type WebhookAttemptFailed = Static<typeof WebhookAttemptFailed>
/** No further attempts follow, unless the owner or the operator asks for redelivery. */
export const WebhookAbandoned = Closed({ runId: RunId, attempts: Attempt })
export const WebhookRedeliveryRequested = Closed({ runId: RunId, url: Type.String() })

/**
 * A file may be stored under this key, through the service (`inline`) or directly in the object store (`presigned`).
 * The event precedes the file, so every file has an owner.
 */
export const UploadGranted = Closed({
  uploadId: UploadId,
  method: OneOf('inline', 'presigned'),
  objectKey: ObjectKey,
  filename: Type.String({ minLength: 1, maxLength: MAX_FILENAME_LENGTH }),
  folderPath: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_FOLDER_LENGTH })),
  mimeType: MimeType,
  maxSizeBytes: SizeBytes,
  livemode: Livemode,
  /** No transfer may start after this time. */
  expiresAt: Timestamp,
  willDeleteAt: Timestamp,
})
export type UploadGranted = Static<typeof UploadGranted>

/**
 * The file has arrived and matches its grant. Until it is `sealed`, the client can replace it, so it is inspected again
 * after the grant ends.
 */
export const UploadStored = Closed({
  uploadId: UploadId,
  sizeBytes: SizeBytes,
  sha256: Sha256,
  sealed: Type.Boolean(),
})
export type UploadStored = Static<typeof UploadStored>

/** The owner asked to delete the upload. */
export const UploadDeletionRequested = Closed({ uploadId: UploadId })

/** The file was deleted: the owner asked for it, or it expired, was unacceptable, or never arrived. */
export const UploadDeleted = Closed({
  uploadId: UploadId,
  reason: OneOf('requested', 'expired', 'never_sent', 'too_large', 'unsupported_type'),
})
export type UploadDeleted = Static<typeof UploadDeleted>

/** All events of an account, by type. */
export const accountEvents = {
  AccountOpened,
  AccountSuspended,
  AccountResumed,
  AccountErased,
  ErasureCompleted,
  TesterSet,
  LimitsSet,
  RetentionSet,
  CreditsGranted,
  CreditsWithdrawn,
  CreditsDebited,
  CreditsRefunded,
  CreditsReleased,
  CreditsExpired,
  LotExtended,
  ...purchaseEvents,
  ...topUpEvents,
  ApiKeyCreated,
  ApiKeyRevoked,
  ApiKeyUsed,
  BudgetSet,
  BudgetRemoved,
  IdentityLinked,
  SessionOpened,
  SessionConfirmed,
  SessionClosed,
  RunQueued,
  RunStarted,
  RunSubmitted,
  RunCancelRequested,
  RunCompleted,
  RunFailed,
  ProviderCostRecorded,
  RunOutputDeleted,
  RunsArchived,
  WebhookDelivered,
  WebhookAttemptFailed,
  WebhookAbandoned,
  WebhookRedeliveryRequested,
  NoticesSet,
  NoticeRaised,
  NoticeDelivered,
  NoticeAttemptFailed,
  NoticeAbandoned,
  WebhookSecretRotated,
  WebhookTestRequested,
  WebhookTested,
  UploadGranted,
  UploadStored,
  UploadDeletionRequested,
  UploadDeleted,
}
export type AccountEvent = EventUnion<typeof accountEvents>
