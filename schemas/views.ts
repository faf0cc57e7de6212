import type { Static } from 'typebox'
import type { GrantKind, KeyLimits, Payment, RunError, RunOutput, Upstream } from './account-events.ts'
import type { KeyScope } from './actor.ts'
import type { Mode, Receipt, Retry } from './catalog.ts'
import type { TelegramIdentity } from './identity.ts'
import type { Notice, NoticeChannel } from './notice-events.ts'
import { type AccountId, type KeyId, type Moded, OneOf, type RunId, type UploadId } from './primitives.ts'

// Rows are types without schemas: projections derive them from validated events, and a MAC proves their origin. Times
// are ISO 8601 in UTC.

/** An account. Key: the account id. */
export interface AccountRow {
  accountId: AccountId
  /** The e-mail address that opened the account; else its identity. */
  email?: string
  identity?: TelegramIdentity
  tester: boolean
  openedAt: string
}

/** An account's balance, and the sums that must add up to it. Key: the account id. */
export interface BalanceRow {
  balanceMicros: number
  grantedMicros: number
  withdrawnMicros: number
  debitedMicros: number
  refundedMicros: number
}

/** An API key. Key: the SHA-256 of the key's text. */
export interface KeyRow extends KeyLimits, Moded {
  accountId: AccountId
  keyId: KeyId
  name: string
  lastFour: string
  /** Missing from old keys, which are `full`. */
  scope?: KeyScope
  createdAt: string
  createdBy: string
  lastUsedAt?: string
  revokedAt?: string
}

export const RunStatus = OneOf('queued', 'processing', 'completed', 'failed')
export type RunStatus = Static<typeof RunStatus>

/** A run as its owner sees it. Key: `<account id>/<run id>`. */
export interface RunRow extends Moded {
  accountId: AccountId
  runId: RunId
  /** The revision of the event that changed it last. */
  revision: number
  status: RunStatus
  model: string
  endpoint: string
  /** Missing between a debit and the RunQueued that follows it in the same append. */
  mode?: Mode
  /** The revision of that RunQueued, which holds the input. */
  queuedRevision?: number
  /** The provider that works on it or has worked on it last; missing before it starts. */
  provider?: string
  createdAt: string
  startedAt?: string
  completedAt?: string
  chargedMicros: number
  refundedMicros?: number
  /** What a test run would cost in live mode. */
  liveMicros?: number
  output?: RunOutput
  outputDeletedAt?: string
  error?: RunError
  metadata?: Record<string, unknown>
  label?: string
  request?: { key: string; hash: string }
}

/** A line of the ledger. Key: the account id and the event's revision. */
export interface StatementRow {
  eventId: string
  revision: number
  at: string
  /** The key that caused it; missing if something else did. */
  keyId?: KeyId
  kind: 'grant' | 'withdrawal' | 'debit' | 'refund'
  amountMicros: number
  balanceAfterMicros: number
  grantKind?: GrantKind
  reference?: string
  reason?: string
  payment?: Payment
  runId?: RunId
  model?: string
  endpoint?: string
  label?: string
  /** The StatementPrice of a debit as JSON. Many debits have the same one, which is then read only once. */
  priceText?: string
}

/** The lines of a receipt, and the rate of the surcharges among them. */
export type StatementPrice = Pick<Receipt, 'lines' | 'usdPerCreditMicros'>

/**
 * Sums of an account's runs of one UTC day, model and key, in the view `usageByLabel` also of one label. Key: the
 * account id and these parts.
 */
export interface UsageRow {
  day: string
  /** Missing from refunds that do not repeat their debits, like the key and the label. */
  model?: string
  keyId?: KeyId
  label?: string
  runs: number
  failures: number
  chargedMicros: number
  refundedMicros: number
}

/** A file that a client sent, or may send. Key: `<account id>/<upload id>`. */
export interface UploadRow extends Moded {
  accountId: AccountId
  uploadId: UploadId
  /** `granted` until an acceptable file has arrived; `deleting` once its owner has asked for that. */
  status: 'granted' | 'stored' | 'deleting'
  objectKey: string
  filename: string
  folderPath?: string
  mimeType: string
  maxSizeBytes: number
  sizeBytes?: number
  sha256?: string
  /** True once the file can no longer be replaced. */
  sealed: boolean
  createdAt: string
  expiresAt: string
  willDeleteAt: string
}

/**
 * The fields of all due work. In each queue, accounts take turns, and the work of each is done in the order of `dueAt`.
 * A full queue delays no other.
 */
interface Due {
  queue: string
  dueAt: string
  accountId: AccountId
}

/** Everything that is needed to do a run's work, except for its input. */
interface RunWork extends Due, Moded {
  runId: RunId
  endpoint: string
  mode: Mode
  timeoutMs: number
  retry?: Retry
  /** The revision of the event that queued it, which holds the input. */
  queuedRevision: number
  webhookUrl?: string
}

/** A run that waits to start. */
export interface StartTask extends RunWork {
  task: 'start-run'
}

/** A started run. The process that works on it holds its lease. */
export interface WatchTask extends RunWork {
  task: 'watch-run'
  startedAt: string
  /** The upstream that was tried first, or that has accepted the job. */
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

/** A key that expires, for the notice to its owner. */
export interface ExpiryTask extends Due {
  task: 'notice-expiry'
  keyId: KeyId
}

/** Results to delete. */
export interface DeleteOutputTask extends Due {
  task: 'delete-output'
  runId: RunId
  objectKeys: string[]
}

/** A failed run, whose files are deleted if it has left any. */
export interface DeleteLeftTask extends Due {
  task: 'delete-left'
  runId: RunId
}

/** An expired grant, whose file is inspected for the last time. */
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

/** Work in the object store. */
export type ObjectTask = DeleteOutputTask | DeleteLeftTask | SealUploadTask | DeleteUploadTask

/**
 * Work that is due, with everything that a reactor needs to do it. Key: the id of the run or upload; for a run's
 * results, which may be due beside its webhook, `output/<run id>`; for a notice
 * `notice/<account id>/<number>/<channel>`, and for a key `expiry/<key id>`.
 */
export type DueRow = StartTask | WatchTask | DeliverTask | NoticeTask | ExpiryTask | ObjectTask

/** The state of a run's webhook. Key: `<account id>/<run id>`. */
export interface WebhookRow extends Moded {
  accountId: AccountId
  runId: RunId
  url: string
  status: WebhookStatus
  /** How many there were since it became pending. */
  attempts: number
  nextAttemptAt?: string
  /** The latest attempts, oldest first, also of deliveries before this one. */
  latest: WebhookAttempt[]
}

/** `waiting` for the run to end, then `pending` until it is delivered or abandoned. */
export const WEBHOOK_STATUSES = ['waiting', 'pending', 'delivered', 'abandoned'] as const
export const WebhookStatus = OneOf(...WEBHOOK_STATUSES)
export type WebhookStatus = Static<typeof WebhookStatus>

/** Attempts that a row keeps: those of two deliveries. */
export const MAX_SHOWN_ATTEMPTS = 20

/** An attempt to deliver a webhook. `status` is missing without a response, and `reason` if it was accepted. */
export interface WebhookAttempt {
  attempt: number
  at: string
  status?: number
  reason?: string
  nextAttemptAt?: string
}

/** Every view and its row. */
export interface Views {
  accounts: AccountRow
  balance: BalanceRow
  keys: KeyRow
  runs: RunRow
  statement: StatementRow
  due: DueRow
  webhooks: WebhookRow
  uploads: UploadRow
  usage: UsageRow
  usageByLabel: UsageRow
}
export type ViewName = keyof Views
