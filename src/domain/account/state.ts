import { Map as ImmutableMap, List, OrderedMap } from 'immutable'
import type {
  AccountLimits,
  BudgetPeriod,
  DebitFacts,
  KeyLimits,
  LotUse,
  Upstream,
} from '../../../schemas/account-events.ts'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import type { Identity } from '../../../schemas/identity.ts'
import type { NoticeSettings } from '../../../schemas/notice-events.ts'
import {
  type AccountId,
  IDEMPOTENCY_HOURS,
  type KeyId,
  type Moded,
  type PurchaseId,
  type RunId,
  type SessionId,
  type UploadId,
  type WebhookTestId,
} from '../../../schemas/primitives.ts'
import type { Money } from '../../../schemas/purchase-events.ts'
import type { TopUpSet } from '../../../schemas/top-up-events.ts'

/**
 * An account, folded from its events. It stays bounded: revoked keys and ended runs without a pending webhook are
 * dropped.
 */
export interface AccountState {
  /** Undefined until the account is opened. */
  accountId: AccountId | undefined
  tester: boolean
  /** Undefined unless the account is suspended. */
  suspension: Suspension | undefined
  /** Undefined unless the account is erased. */
  erasure: 'begun' | 'completed' | undefined
  /** The limits that differ from the defaults. */
  limits: AccountLimits
  /** 0 if nothing of the account's runs is kept; undefined is the default. */
  retentionDays: 0 | undefined
  /** The identity that the account was opened with, and those that were linked since. */
  identities: readonly Identity[]
  /** The sessions that were not closed, the oldest first. Some may have expired. */
  sessions: OrderedMap<SessionId, OpenSession>
  balanceMicros: number
  /** The credits of each grant, in the order of the grants. A lot that is used up stays: refunds give back to it. */
  lots: List<Lot>
  /** The numbers of the lots that have credits, in the order of their use. */
  lotOrder: readonly number[]
  /** Whether grants record their lots. Before, refunds did not record which credits they return. */
  hasNumberedLots: boolean
  /** What the last run that failed had used; its refund follows. */
  lastFailed: { runId: RunId; uses: readonly LotUse[] } | undefined
  /** What ended runs have used, the oldest first. Empty once lots have numbers. */
  endedUses: OrderedMap<RunId, readonly LotUse[]>
  /** True once one was dropped. */
  hasDroppedUses: boolean
  /** Whether a refund of a run that was dropped hides which credits were bought, until all are used. */
  isSplitUnknown: boolean
  /** The digest of each reference of a grant or withdrawal, with its amount: negative for a withdrawal. */
  references: ImmutableMap<string, number>
  /** How many refunds the account has had. */
  refunds: number
  /** The purchases that were paid, are open, or were closed lately, the oldest first. */
  purchases: OrderedMap<PurchaseId, Purchase>
  /** When the last purchases were opened, in ms since 1970: as many as are allowed in an hour. */
  purchasesOpened: readonly number[]
  /** Undefined if top-ups are off. See also `activeTopUp`. */
  topUp: TopUp | undefined
  /** Used credits of disputed payments. While there are any, no run starts. */
  owedMicros: number
  activeKeys: ImmutableMap<KeyId, ActiveKey>
  /** The named budgets. */
  budgets: ImmutableMap<string, NamedBudget>
  /** The highest number of a budget so far. */
  budgetsNumbered: number
  openRuns: ImmutableMap<RunId, OpenRun>
  /** How many of these runs each key has asked for. Keys without any are missing. */
  openRunsOf: ImmutableMap<KeyId, number>
  /** The bytes of the events that accepted these runs. */
  openRunBytes: number
  /** The failures that the account caused; see `countFailure`. */
  ownFailures: Decaying
  /** The bytes of events that cost the owner nothing; see `FREE_EVENTS`. */
  freeBytes: Record<FreeEvents, Decaying>
  /** How many test runs the account has asked for on the last UTC day that had some. */
  testRuns: { day: string; count: number }
  /** The number of attempts for each run whose webhook is pending. */
  deliveries: ImmutableMap<RunId, { attempts: number }>
  notices: NoticeSettings
  /** How many there were. */
  noticesRaised: number
  /** The number of attempts for each delivery of a notice that is pending, by number and channel. */
  noticeDeliveries: ImmutableMap<string, number>
  /** When the owner last got a notice of a low balance, in ms since 1970; undefined since the last grant. */
  balanceLowAtMs: number | undefined
  /** The last step that had a notice, by model and time of its retirement. */
  retirementsTold: ImmutableMap<string, number>
  /** How often the webhook secret was rotated, and when last, in ms since 1970. */
  webhookSecret: { generation: number; rotatedAtMs: number }
  /** When the owner last had webhooks sent again, in ms since 1970: as many times as are allowed in an hour. */
  webhookResends: readonly number[]
  /** The last tests of webhooks, as many as are allowed in an hour. */
  webhookTests: readonly WebhookTest[]
  /** The uploads that are not deleted yet. */
  uploads: ImmutableMap<UploadId, LiveUpload>
  /** The bytes of these uploads together, as they count towards the quota. */
  uploadBytes: number
  /** Recent idempotency keys, the oldest first; see `requestNameOf`. */
  requests: OrderedMap<string, RememberedRequest>
  /** True once a request may have been dropped before its time; see `isForgetful`. */
  hasDroppedEarly: boolean
}

/** Credits by origin: bought, or granted in another way. */
export interface CreditSplit {
  freeMicros: number
  paidMicros: number
}

/** The credits of one grant. */
export interface Lot {
  isPaid: boolean
  leftMicros: number
  /** When what is left expires, in ISO 8601; missing if never. */
  expiresAt?: string
  /** What has expired of it; missing before its end. */
  expiredMicros?: number
  /** The last step before its expiry that had a notice, in days. */
  toldDays?: number
}

/** A purchase of credits. A payment may also arrive after it was closed. */
export interface Purchase extends Money {
  creditsMicros: number
  bonusMicros?: number
  validDays?: number
  keepsMethod?: true
  /** Set for a top-up: the purchase whose payment method it uses. */
  methodOf?: PurchaseId
  withdrawalDays?: number
  /** Whether the customer has withdrawn from the contract. */
  isWithdrawn?: true
  status: 'open' | 'paid' | 'closed'
  checkoutId?: string
  payment?: Paid
  claims: readonly Claim[]
}

interface Paid extends Money {
  paymentId: string
  /** In ISO 8601. */
  paidAt: string
  /** The lots of the credits and of the bonus. */
  lot: number
  bonusLot?: number
  /** Whether the fee of the payment service is recorded. */
  hasFee?: true
}

/** While an attempt is not settled, it has a `dueAt` and, once it was opened, a purchase. */
export interface TopUp {
  settings: TopUpSet
  /** In ISO 8601. */
  dueAt?: string
  purchaseId?: PurchaseId
  /** When the owner removed them; missing unless an attempt is still to be settled. In ISO 8601. */
  removedAt?: string
  /** The failures since the last payment. */
  failures: number
}

/** A refund or a dispute. If its end is the first report, its amounts are unknown. */
export interface Claim extends Money {
  claimId: string
  kind: 'refund' | 'dispute'
  /** `requested`: the payment service has not accepted it; `reversed`: the refund failed, or the dispute was won. */
  status: 'requested' | 'standing' | 'reversed'
  creditsMicros: number
  withdrawnMicros: number
  bonusWithdrawnMicros: number
  /** The credits that are still owed, and those that other credits have paid. */
  owedMicros: number
  settledMicros: number
}

/** A limit for each key of an account, and one for all of its requests. Infinity means none. */
export interface LimitPair {
  perKey: number
  perAccount: number
}

/** A count that time reduces, as it was at `atMs`, in ms since 1970; see `decayed`. */
export interface Decaying {
  count: number
  atMs: number
}

/**
 * What an owner may cause without paying: changes of settings and keys, test runs, uploads, and runs that fail through
 * the owner's fault, since they are refunded.
 */
export type FreeEvents = 'changes' | 'testRuns' | 'uploads' | 'failedRuns'

/** Times in ms since 1970. `codeAtMs` is the time of the last code that was entered in its browser. */
export interface OpenSession {
  openedAtMs: number
  expiresAtMs: number
  codeAtMs: number
  place?: string
}

/** Why an account is suspended, and since when (ISO 8601). */
export interface Suspension {
  reason: string
  since: string
}

export interface ActiveKey extends KeyLimits, Moded {
  hash: string
  /** Missing means `full`. */
  scope?: KeyScope
  /** Its debits less refunds in the periods of its budget. */
  spent?: SpentInPeriod[]
  /** The last day that it was used on. */
  usedOn?: string
  /** When the notice that it expires is due; missing once the notice was raised. */
  expiryNoticeAt?: string
}

export interface NamedBudget {
  number: number
  budget: { amountMicros: number; period?: BudgetPeriod }
  /** Its debits less refunds in its periods. */
  spent?: SpentInPeriod[]
}

export interface SpentInPeriod {
  /** The first day of the period; empty for a budget for once. */
  period: string
  micros: number
  /** The largest share of the budget, in percent, that had a notice. */
  toldPercent?: number
}

export interface OpenRun extends Moded {
  /** Nothing in test mode. */
  chargedMicros: number
  /** The credits that it holds, in the order of their use; missing in test mode, and while the split is unknown. */
  uses?: readonly LotUse[]
  /** The facts that a refund repeats. */
  debit: DebitFacts
  /** The receipt of the debit if it reserves the most that tokens can cost. */
  receipt?: Receipt
  isStarted: boolean
  /** The upstream that was tried first, or that has accepted the job. */
  upstream?: Upstream
  /** The bytes of the event that accepted it. */
  bytes: number
  /** The provider's id for the work, once it has returned one. */
  jobId?: string
  hasWebhook?: boolean
  isCancelRequested?: boolean
}

/** A test of a webhook. It is open until its result is recorded. */
export interface WebhookTest {
  testId: WebhookTestId
  atMs: number
  isOpen: boolean
}

/** An upload that is not deleted yet. */
export interface LiveUpload extends Moded {
  stage: UploadStage
  /** The key of its file. It comes from the log, since a forged view could name another account's file. */
  objectKey: string
  /** The size of its file; the largest that is allowed, as long as the file can be replaced. */
  bytes: number
  /** The key that asked for it, if one did. */
  keyId?: KeyId
  /** When this key was revoked, in ms since 1970. A file that is sent later is not used. */
  withdrawnAtMs?: number
}

/**
 * `granted`: a file may be sent; `stored`: it has arrived and can still be replaced; `sealed`: it can no longer be
 * replaced; `deleting`: its owner has asked for its deletion.
 */
type UploadStage = 'granted' | 'stored' | 'sealed' | 'deleting'

export interface RememberedRequest {
  runId: RunId
  requestHash: string
  atMs: number
}

/** How long an idempotency key is remembered. */
export const REMEMBER_MS = IDEMPOTENCY_HOURS * 60 * 60 * 1000

/**
 * Idempotency keys held in memory: at most about 20 MB for one account, and more than one request a second for a day.
 */
export const MAX_REMEMBERED = 100_000

/** How far a clock may go back unnoticed. An idempotency key loses at most this much of its 24 hours. */
export const CLOCK_TOLERANCE_MS = 60_000

/**
 * Whether a request that still counts may be missing from the state, because some were dropped early, or because the
 * clock has gone back since some expired. Unknown keys are then also looked up in the views.
 */
export const isForgetful = ({ hasDroppedEarly, requests }: AccountState, atMs: number): boolean =>
  hasDroppedEarly || (requests.last()?.atMs ?? atMs) > atMs + CLOCK_TOLERANCE_MS

/** Accounts from before there were notices. */
const NO_NOTICES: NoticeSettings = { email: false, balanceUnderMicros: 0 }

const NONE_YET: Decaying = { count: 0, atMs: 0 }

export const initialAccount: AccountState = {
  accountId: undefined,
  tester: false,
  suspension: undefined,
  erasure: undefined,
  limits: {},
  retentionDays: undefined,
  identities: [],
  sessions: OrderedMap(),
  balanceMicros: 0,
  lots: List(),
  lotOrder: [],
  hasNumberedLots: false,
  lastFailed: undefined,
  endedUses: OrderedMap(),
  hasDroppedUses: false,
  isSplitUnknown: false,
  references: ImmutableMap(),
  refunds: 0,
  purchases: OrderedMap(),
  purchasesOpened: [],
  topUp: undefined,
  owedMicros: 0,
  activeKeys: ImmutableMap(),
  budgets: ImmutableMap(),
  budgetsNumbered: 0,
  openRuns: ImmutableMap(),
  openRunsOf: ImmutableMap(),
  openRunBytes: 0,
  ownFailures: NONE_YET,
  freeBytes: { changes: NONE_YET, testRuns: NONE_YET, uploads: NONE_YET, failedRuns: NONE_YET },
  testRuns: { day: '', count: 0 },
  deliveries: ImmutableMap(),
  notices: NO_NOTICES,
  noticesRaised: 0,
  noticeDeliveries: ImmutableMap(),
  balanceLowAtMs: undefined,
  retirementsTold: ImmutableMap(),
  webhookSecret: { generation: 0, rotatedAtMs: 0 },
  webhookResends: [],
  webhookTests: [],
  uploads: ImmutableMap(),
  uploadBytes: 0,
  requests: OrderedMap(),
  hasDroppedEarly: false,
}

/**
 * The count that remains, if each event counts for `eachMs`. A clock that is a little behind forgets nothing. Counts
 * of a clock that was far ahead are void, since they would count for too long.
 */
export const decayed = ({ count, atMs }: Decaying, nowMs: number, eachMs: number): Decaying => {
  if (nowMs < atMs - CLOCK_TOLERANCE_MS) return { count: 0, atMs: nowMs }
  const passedMs = Math.max(0, nowMs - atMs)
  return { count: Math.max(0, count - passedMs / eachMs), atMs: atMs + passedMs }
}

/** An event with the caller that caused it. */
export interface Caused {
  metadata: { actor?: object }
}

/** Whether the owner of the account caused an event, with a key or signed in. */
export const isByOwner = ({ metadata: { actor } }: Caused): boolean =>
  actor !== undefined && 'kind' in actor && (actor.kind === 'key' || actor.kind === 'session')

/** The key that caused an event, if one did. */
export const keyOf = ({ metadata: { actor } }: Caused): KeyId | undefined =>
  actor && 'keyId' in actor ? (actor.keyId as KeyId) : undefined
