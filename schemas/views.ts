import { type Static, Type } from 'typebox'
import { RunError, RunOutput } from './account-events.ts'
import { Family, Mode, Receipt, Retry } from './catalog.ts'
import {
  AccountId,
  Closed,
  KeyId,
  Micros,
  OneOf,
  RunId,
  Sha256,
  Slug,
  Tagged,
  Timestamp,
  UploadId,
} from './primitives.ts'

/** Who an account is. Key: the account id. */
export const AccountRow = Closed({
  accountId: AccountId,
  email: Type.String(),
  tester: Type.Boolean(),
  openedAt: Timestamp,
})
export type AccountRow = Static<typeof AccountRow>

/** What an account has, and the sums that it must equal. Key: the account id. */
export const BalanceRow = Closed({
  balanceMicros: Micros,
  grantedMicros: Micros,
  debitedMicros: Micros,
  refundedMicros: Micros,
})
export type BalanceRow = Static<typeof BalanceRow>

/** An API key. Key: the SHA-256 of the key's text. */
export const KeyRow = Closed({
  accountId: AccountId,
  keyId: KeyId,
  name: Type.String(),
  lastFour: Type.String(),
  createdAt: Timestamp,
  revokedAt: Type.Optional(Timestamp),
})
export type KeyRow = Static<typeof KeyRow>

export const RunStatus = OneOf('queued', 'processing', 'completed', 'failed')
export type RunStatus = Static<typeof RunStatus>

/** A run as its owner sees it. Key: `<account id>/<run id>`. */
export const RunRow = Closed({
  accountId: AccountId,
  runId: RunId,
  /** The revision of the event that changed it last. */
  revision: Type.Integer(),
  status: RunStatus,
  model: Slug,
  endpoint: Slug,
  /** Missing between a debit and the RunQueued that follows it in the same append. */
  mode: Type.Optional(Mode),
  createdAt: Timestamp,
  startedAt: Type.Optional(Timestamp),
  completedAt: Type.Optional(Timestamp),
  chargedMicros: Micros,
  refundedMicros: Type.Optional(Micros),
  output: Type.Optional(RunOutput),
  outputDeletedAt: Type.Optional(Timestamp),
  error: Type.Optional(RunError),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  request: Type.Optional(Closed({ key: Type.String(), hash: Sha256 })),
})
export type RunRow = Static<typeof RunRow>

/** A line of the ledger. Key: the account id and the event's revision. */
export const StatementRow = Closed({
  eventId: Type.String(),
  at: Timestamp,
  kind: OneOf('grant', 'debit', 'refund'),
  amountMicros: Micros,
  balanceAfterMicros: Micros,
  reason: Type.Optional(Type.String()),
  runId: Type.Optional(RunId),
  receipt: Type.Optional(Receipt),
})
export type StatementRow = Static<typeof StatementRow>

/** A family as it is offered. `revision` is that of the event in `catalog` that gave it this form. Key: the family id. */
export const CatalogRow = Closed({ family: Family, revision: Type.Integer(), firstRevision: Type.Integer() })
export type CatalogRow = Static<typeof CatalogRow>

/** A file that a client sent, or may send. Key: `<account id>/<upload id>`. */
export const UploadRow = Closed({
  accountId: AccountId,
  uploadId: UploadId,
  /** `granted` until a good file is there; `deleting` once its owner wants it gone. */
  status: OneOf('granted', 'stored', 'deleting'),
  objectKey: Type.String(),
  filename: Type.String(),
  folderPath: Type.Optional(Type.String()),
  mimeType: Type.String(),
  maxSizeBytes: Type.Integer(),
  sizeBytes: Type.Optional(Type.Integer()),
  sha256: Type.Optional(Sha256),
  /** Nobody can put another file in its place any longer. */
  sealed: Type.Boolean(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  willDeleteAt: Timestamp,
})
export type UploadRow = Static<typeof UploadRow>

// What every kind of due work has. Work of one queue is done in the order of `dueAt`, and a full queue holds up no other.
const due = { queue: Type.String(), dueAt: Timestamp, accountId: AccountId }
const owed = { ...due, runId: RunId }

/** All that is needed to do a run's work. */
const work = {
  endpoint: Slug,
  mode: Mode,
  provider: Slug,
  timeoutMs: Type.Integer(),
  retry: Type.Optional(Retry),
  input: Type.Record(Type.String(), Type.Unknown()),
  webhookUrl: Type.Optional(Type.String()),
}

/** A run that waits to be begun. */
export const StartTask = Closed({ task: Type.Literal('start-run'), ...owed, ...work })
export type StartTask = Static<typeof StartTask>

/** A run that somebody works on, as long as they hold its lease. */
export const WatchTask = Closed({
  task: Type.Literal('watch-run'),
  ...owed,
  ...work,
  startedAt: Timestamp,
  jobId: Type.Optional(Type.String()),
  cancelRequested: Type.Optional(Type.Boolean()),
})
export type WatchTask = Static<typeof WatchTask>

/** A receiver that is to be told of a run's end. `attempt` is the next one, from 1. */
export const DeliverTask = Closed({
  task: Type.Literal('deliver-webhook'),
  ...owed,
  url: Type.String(),
  attempt: Type.Integer({ minimum: 1 }),
})
export type DeliverTask = Static<typeof DeliverTask>

/** Results that are to be taken away. */
export const DeleteOutputTask = Closed({
  task: Type.Literal('delete-output'),
  ...owed,
  objectKeys: Type.Array(Type.String()),
})
export type DeleteOutputTask = Static<typeof DeleteOutputTask>

/** A grant that is over: what came of it is to be looked at. */
export const SealUploadTask = Closed({
  task: Type.Literal('seal-upload'),
  ...due,
  uploadId: UploadId,
  willDeleteAt: Timestamp,
})
export type SealUploadTask = Static<typeof SealUploadTask>

/** A file that is to be taken away. */
export const DeleteUploadTask = Closed({ task: Type.Literal('delete-upload'), ...due, uploadId: UploadId })
export type DeleteUploadTask = Static<typeof DeleteUploadTask>

/** What is to be done in the object store. */
export type ObjectTask = DeleteOutputTask | SealUploadTask | DeleteUploadTask

/**
 * What is owed to the outside world, with all that a reactor needs to do it. Key: the id of the run or the upload; for a run's
 * results, which may be owed beside a webhook, `output/<run id>`.
 */
export const DueRow = Tagged(
  'task',
  ...[StartTask, WatchTask, DeliverTask],
  ...[DeleteOutputTask, SealUploadTask, DeleteUploadTask],
)
export type DueRow = StartTask | WatchTask | DeliverTask | ObjectTask

/** What a receiver was told of a run's end. Key: `<account id>/<run id>`. */
export const WebhookRow = Closed({
  accountId: AccountId,
  runId: RunId,
  url: Type.String(),
  /** `waiting` for the run to end, then `pending` until it is delivered or given up. */
  status: OneOf('waiting', 'pending', 'delivered', 'abandoned'),
  attempts: Type.Integer(),
  lastStatus: Type.Optional(Type.Integer()),
  lastReason: Type.Optional(Type.String()),
  lastAttemptAt: Type.Optional(Timestamp),
  nextAttemptAt: Type.Optional(Timestamp),
})
export type WebhookRow = Static<typeof WebhookRow>

/** Every view and its row. */
export interface Views {
  accounts: AccountRow
  balance: BalanceRow
  keys: KeyRow
  runs: RunRow
  statement: StatementRow
  catalog: CatalogRow
  due: DueRow
  webhooks: WebhookRow
  uploads: UploadRow
}
export type ViewName = keyof Views
