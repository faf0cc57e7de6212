import { type Static, Type } from 'typebox'
import { RunError, RunOutput } from './account-events.ts'
import { Family, Mode, Receipt } from './catalog.ts'
import { AccountId, Closed, KeyId, Micros, OneOf, RunId, Sha256, Slug, Timestamp } from './primitives.ts'

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

/** Work that is owed to the outside world, with all that a reactor needs to do it. Key: `run/<run id>`. */
export const DueRow = Closed({
  dueAt: Timestamp,
  task: OneOf('start-run', 'watch-run'),
  accountId: AccountId,
  runId: RunId,
  endpoint: Slug,
  provider: Slug,
  timeoutMs: Type.Integer(),
  input: Type.Record(Type.String(), Type.Unknown()),
})
export type DueRow = Static<typeof DueRow>

/** Every view and its row. */
export interface Views {
  accounts: AccountRow
  balance: BalanceRow
  keys: KeyRow
  runs: RunRow
  statement: StatementRow
  catalog: CatalogRow
  due: DueRow
}
export type ViewName = keyof Views
