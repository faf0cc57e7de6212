import type { Static } from 'typebox'
import type { GrantKind, KeyLimits, Payment, RunError, RunOutput, Upstream } from './account-events.ts'
import type { KeyScope } from './actor.ts'
import type { Mode, Receipt, Retry, TokenUsage } from './catalog.ts'
import type { TelegramIdentity } from './identity.ts'
import type { Notice, NoticeChannel } from './notice-events.ts'
import {
  type AccountId,
  type KeyId,
  type LedgerKind,
  type Moded,
  OneOf,
  type PurchaseId,
  type RunId,
  type UploadId,
} from './primitives.ts'
import type { Evidence } from './purchase-events.ts'

// Rows are types without schemas: projections derive them from validated events, and a MAC proves their origin. Times
// are ISO 8601 in UTC.

/** An account. Key: the account id. */
export interface AccountRow {
  accountId: AccountId
  /** The e-mail address that opened the account; otherwise the identity. */
  email?: string
  identity?: TelegramIdentity
  openedAt: string
  /** Set once the account is erased; `email` is then `erased`. */
  erasedAt?: string
}

/** An account's balance, and the sums that must add up to it. Key: the account ID. */
export interface BalanceRow {
  balanceMicros: number
  grantedMicros: number
  withdrawnMicros: number
  debitedMicros: number
  refundedMicros: number
  releasedMicros: number
  expiredMicros: number
}

/** An API key. Key: the SHA-256 of the key's text. */
export interface KeyRow extends KeyLimits, Moded {
  accountId: AccountId
  keyId: KeyId
  name: string
  lastFour: string
  /** Missing from old keys, which count as `full`. */
  scope?: KeyScope
  createdAt: string
  createdBy: string
  lastUsedAt?: string
  revokedAt?: string
}

export const RunStatus = OneOf('queued', 'processing', 'completed', 'failed')
export type RunStatus = Static<typeof RunStatus>

/** A run for its owner. Key: `<account id>/<run id>`. */
export interface RunRow extends Moded {
  accountId: AccountId
  runId: RunId
  /** The revision of the event that last changed the run. */
  revision: number
  /** The revisions of all events that changed it. */
  revisions: readonly number[]
  status: RunStatus
  model: string
  endpoint: string
  /** Missing after a debit, until the acceptance in the same append. */
  mode?: Mode
  /** The revision of the acceptance, which holds the input. */
  queuedRevision?: number
  /** The provider that works, or last worked, on the run; missing before the start. */
  provider?: string
  createdAt: string
  startedAt?: string
  completedAt?: string
  chargedMicros: number
  refundedMicros?: number
  /** The part of the charge that the run did not need. */
  releasedMicros?: number
  usage?: TokenUsage
  finishReason?: 'length' | 'cancelled'
  /** The hypothetical price of a test run. */
  liveMicros?: number
  output?: RunOutput
  outputDeletedAt?: string
  error?: RunError
  metadata?: Record<string, unknown>
  /** Set if neither input, metadata nor texts were kept. */
  store?: false
  label?: string
  /** The named budget that it was charged to. */
  budget?: string
  /** The key of the request; missing if a person was signed in. */
  keyId?: KeyId
  request?: { key: string; hash: string }
}

/** A line of the ledger. Key: the account id and the event's revision. */
export interface StatementRow {
  eventId: string
  revision: number
  at: string
  /** The key that caused the line; missing if a key did not. */
  keyId?: KeyId
  kind: LedgerKind
  amountMicros: number
  balanceAfterMicros: number
  grantKind?: GrantKind
  reference?: string
  reason?: string
  payment?: Payment
  /** The lot of a grant or an expiry, or of a withdrawal that names it. */
  lot?: number
  expiresAt?: string
  runId?: RunId
  model?: string
  endpoint?: string
  label?: string
  budget?: string
  /** The StatementPrice of a debit or a release as JSON. Many debits have the same text, so it is parsed only once. */
  priceText?: string
}

/** The lines of a receipt, and the rate for surcharges. */
export type StatementPrice = Pick<Receipt, 'lines' | 'usdPerCreditMicros'>

/**
 * Sums of an account's runs for one UTC day, model and key, and in the view `usageByLabel` also for one label. Key: the
 * account ID and these parts.
 */
export interface UsageRow {
  day: string
  /** Missing, like the key and the label, from refunds that do not repeat their debits. */
  model?: string
  keyId?: KeyId
  label?: string
  runs: number
  failures: number
  chargedMicros: number
  refundedMicros: number
  releasedMicros: number
}

/** A file that a client sent or may send. Key: `<account id>/<upload id>`. */
export interface UploadRow extends Moded {
  accountId: AccountId
  uploadId: UploadId
  /** `granted` until a valid file has arrived; `deleting` once the owner has asked to delete it. */
  status: 'granted' | 'stored' | 'deleting'
  objectKey: string
  filename: string
  folderPath?: string
  mimeType: string
  maxSizeBytes: number
  sizeBytes?: number
  sha256?: string
  /** Whether the file can no longer be replaced. */
  sealed: boolean
  createdAt: string
  expiresAt: string
  willDeleteAt: string
}

/**
 * The fields of all due work. Each queue serves accounts round robin, and the work of an account in the order of
 * `dueAt`. A full queue delays no other queue.
 */
interface Due {
  queue: string
  dueAt: string
  accountId: AccountId
}

/** Everything for the work of a run, except the input. */
interface RunWork extends Due, Moded {
  runId: RunId
  endpoint: string
  mode: Mode
  timeoutMs: number
  retry?: Retry
  /** The revision of the event that accepted the run, which holds the input. */
  queuedRevision: number
  webhookUrl?: string
}

/** A run that waits to start. */
export interface StartTask extends RunWork {
  task: 'start-run'
}

/** A started run. The process that works on it holds a lease. */
export interface WatchTask extends RunWork {
  task: 'watch-run'
  startedAt: string
  /** The first upstream, or the upstream that accepted the job. */
  upstream: Upstream
  jobId?: string
  cancelRequested?: boolean
}

/** A webhook that is due. `attempt` is the number of the next attempt, from 1. */
export interface DeliverTask extends Due {
  task: 'deliver-webhook'
  runId: RunId
  url: string
  attempt: number
}

/** A notice to deliver by mail or to a URL. `attempt` is the number of the next attempt, from 1. */
export interface NoticeTask extends Due {
  task: 'deliver-notice'
  number: number
  channel: NoticeChannel
  url?: string
  notice: Notice
  raisedAt: string
  attempt: number
}

/** An expiring key, for the notice to its owner. */
export interface KeyExpiryTask extends Due {
  task: 'notice-expiry'
  keyId: KeyId
}

/** A lot that expires, for the notices to its owner, and for its end. */
export interface LotExpiryTask extends Due {
  task: 'expire-lot'
  lot: number
  expiresAt: string
}

/** A purchase that may have been paid without a report, or was paid and its fee is unknown. */
export interface CheckPurchaseTask extends Due {
  task: 'check-purchase'
  purchaseId: PurchaseId
  paidAt?: string
}

/** Money that the payment service must be asked to return. */
export interface RefundTask extends Due {
  task: 'refund-payment'
  purchaseId: PurchaseId
  claimId: string
}

/** A top-up to charge, or one whose charge is under way. */
export interface TopUpTask extends Due {
  task: 'top-up'
}

/** Work with the payment service. */
export type PaymentTask = CheckPurchaseTask | RefundTask | TopUpTask

/** Results to delete. */
export interface DeleteOutputTask extends Due {
  task: 'delete-output'
  runId: RunId
  objectKeys: string[]
}

/** A failed run, whose files, if any, must be deleted. */
export interface DeleteLeftTask extends Due {
  task: 'delete-left'
  runId: RunId
}

/** An expired grant, whose file must be inspected for the last time. */
export interface SealUploadTask extends Due {
  task: 'seal-upload'
  uploadId: UploadId
  willDeleteAt: string
}

/** A file to delete. */
interface DeleteUploadTask extends Due {
  task: 'delete-upload'
  uploadId: UploadId
}

/** An account whose personal data must be erased. */
export interface EraseTask extends Due {
  task: 'erase-account'
}

/** Work in the object store. */
export type FileTask = DeleteOutputTask | DeleteLeftTask | SealUploadTask | DeleteUploadTask
export type ObjectTask = FileTask | EraseTask

/**
 * Due work, with everything that a reactor needs. Key: the ID of the run or upload; for the results of a run, which may
 * be due beside its webhook, `output/<run id>`; for a notice, `notice/<account id>/<number>/<channel>`; for a key,
 * `expiry/<key id>`; for a purchase, its ID; for a refund, `refund/<account id>/<claim id>`; for a lot,
 * `lot/<account id>/<number>`; for an erasure, the ID of the account.
 */
export type DueRow =
  | StartTask
  | WatchTask
  | DeliverTask
  | NoticeTask
  | KeyExpiryTask
  | LotExpiryTask
  | PaymentTask
  | ObjectTask

/** The state of a run's webhook. Key: `<account id>/<run id>`. */
export interface WebhookRow extends Moded {
  accountId: AccountId
  runId: RunId
  url: string
  status: WebhookStatus
  /** Attempts since the webhook became pending. */
  attempts: number
  nextAttemptAt?: string
  /** The latest attempts, oldest first, including earlier deliveries. */
  latest: WebhookAttempt[]
}

/** `waiting` for the end of the run, then `pending` until the webhook is delivered or abandoned. */
export const WEBHOOK_STATUSES = ['waiting', 'pending', 'delivered', 'abandoned'] as const
export const WebhookStatus = OneOf(...WEBHOOK_STATUSES)
export type WebhookStatus = Static<typeof WebhookStatus>

/** Attempts in a row, enough for two deliveries. */
export const MAX_SHOWN_ATTEMPTS = 20

/**
 * An attempt to deliver a webhook. `status` is missing without a response, and `reason` if the receiver accepted it.
 */
export interface WebhookAttempt {
  attempt: number
  at: string
  status?: number
  reason?: string
  nextAttemptAt?: string
}

/** A purchase of credits. Key: `<account id>/<purchase id>`. */
export interface PurchaseRow {
  accountId: AccountId
  purchaseId: PurchaseId
  status: PurchaseStatus
  createdAt: string
  creditsMicros: number
  bonusMicros?: number
  pack?: string
  /** As in `PurchaseOpened`. */
  withdrawalDays?: number
  beginAtOnce?: true
  /** Set for a top-up: the purchase whose payment method it uses. */
  methodOf?: PurchaseId
  /** The price and, once it is paid, all that was paid. */
  amount: string
  currency: string
  checkoutId?: string
  /** The page of the payment service, until `expiresAt`. */
  url?: string
  expiresAt?: string
  paidAt?: string
  paymentId?: string
  tax?: string
  country?: string
  evidence?: Evidence
  invoice?: string
  /** Set once the customer has withdrawn from the contract, with the money that is paid back. */
  withdrawal?: WithdrawalRow
  /** What the payment service keeps. */
  fee?: { amount: string; currency: string }
  /** Refunds and disputes, the oldest first. */
  claims?: readonly ClaimRow[]
}

export const PURCHASE_STATUSES = ['open', 'paid', 'expired', 'failed'] as const
export const PurchaseStatus = OneOf(...PURCHASE_STATUSES)
export type PurchaseStatus = Static<typeof PurchaseStatus>

export interface WithdrawalRow {
  /** The claim of its refund; missing if there is nothing to return. */
  claimId?: string
  at: string
  amount: string
  currency: string
}

export interface ClaimRow {
  claimId: string
  kind: 'refund' | 'dispute'
  at: string
  amount: string
  currency: string
  /** Set once the refund failed, or the dispute was won. */
  reversedAt?: string
}

/** A run that a request or a provider's job leads to. Key: see `projections/lookups.ts`. */
export interface LookupRow {
  accountId: AccountId
  runId: RunId
  jobId?: string
}

/** Leads to the events of a run that has left the lists. Key: the account id and the run id. */
export interface ArchivedRunRow {
  accountId: AccountId
  runId: RunId
  revisions: readonly number[]
}

/** Every view and its row. */
export interface Views {
  accounts: AccountRow
  balance: BalanceRow
  keys: KeyRow
  runs: RunRow
  archivedRuns: ArchivedRunRow
  statement: StatementRow
  due: DueRow
  webhooks: WebhookRow
  uploads: UploadRow
  purchases: PurchaseRow
  lookups: LookupRow
  usage: UsageRow
  usageByLabel: UsageRow
}
export type ViewName = keyof Views
