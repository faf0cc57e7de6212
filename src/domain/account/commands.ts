import type { Static } from 'typebox'
import type {
  AcceptedRun,
  AccountLimits,
  ApiKeyCreated,
  ArchivedRun,
  BudgetPeriod,
  CreditsGranted,
  DebitFacts,
  LotUse,
  Payment,
  ProviderCost,
  RunAttempt,
  RunError,
  RunOutput,
  UploadDeleted,
  UploadGranted,
  UploadStored,
  Upstream,
  WebhookAttemptFailed,
  WorkedUpstream,
} from '../../../schemas/account-events.ts'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { Receipt, TokenUsage } from '../../../schemas/catalog.ts'
import type { EmailIdentity, Identity } from '../../../schemas/identity.ts'
import type { Notice, NoticeAttemptFailed, NoticeChannel, NoticeSettings } from '../../../schemas/notice-events.ts'
import type {
  AccountId,
  KeyId,
  Moded,
  PurchaseId,
  RunId,
  SessionId,
  UploadId,
  WebhookTestId,
} from '../../../schemas/primitives.ts'
import type { Money, PurchaseOpened, PurchasePaid } from '../../../schemas/purchase-events.ts'
import type { TopUpSet } from '../../../schemas/top-up-events.ts'
import type { WebhookTested } from '../../../schemas/webhook-events.ts'
import type { LimitPair } from './state.ts'

/** The commands that an account accepts. They carry ids, since the domain has no randomness. */
export type AccountCommand = (
  | OpenAccount
  | { type: 'SuspendAccount' | 'ResumeAccount' | 'CloseAccount' | 'EraseAccount'; reason: string }
  | { type: 'CompleteErasure' }
  | { type: 'SetTester'; tester: boolean }
  | SetLimits
  | { type: 'SetRetention'; days?: 0 | undefined; reason: string }
  | ({ type: 'GrantCredits' | 'WithdrawCredits' } & Grant)
  | { type: 'ExpireCredits'; lot: number }
  | ExtendLot
  | RefundRun
  | OpenPurchase
  | ({ type: 'OpenCheckout' } & OpenedCheckout)
  | { type: 'PayPurchase'; payment: PurchasePaid }
  | ({ type: 'OpenTopUp' } & Pick<OpenPurchase, 'purchase' | 'perHour'>)
  | FailTopUp
  | EndTopUp
  | ({ type: 'RecordFee'; purchaseId: PurchaseId } & Money)
  | { type: 'ClosePurchase'; purchaseId: PurchaseId; reason: 'expired' | 'failed' }
  | RequestRefund
  | DeclareWithdrawal
  | { type: 'AcceptRefund'; purchaseId: PurchaseId; claimId: string; refundId: string }
  | ReportedRefund
  | ReportedDispute
  | CreateApiKey
  | RevokeApiKey
  | UseApiKey
  | SetTopUp
  | ({ type: 'RemoveTopUp' } & Asked)
  | SetBudget
  | RemoveBudget
  | QueueRun
  | { type: 'StartRun'; runId: RunId; upstream: Upstream }
  | ({ type: 'SubmitRun' } & SubmittedRun)
  | ({ type: 'CancelRun'; runId: RunId } & Asked)
  | ({ type: 'CompleteRun' } & Completion)
  | ({ type: 'FailRun' } & Failure)
  | { type: 'RecordOutputDeletion'; runId: RunId }
  | { type: 'ArchiveRuns'; runs: readonly ArchivedRun[] }
  | RecordDelivery
  | RedeliverWebhook
  | ({ type: 'RotateWebhookSecret' } & Asked)
  | RequestWebhookTest
  | { type: 'RecordWebhookTest'; result: WebhookTested }
  | SetNotices
  | { type: 'RaiseKeyExpiry'; keyId: KeyId }
  | { type: 'RaiseRetirement'; retirement: Retirement }
  | RecordNotice
  | GrantUpload
  | ({ type: 'StoreUpload'; upload: UploadStored } & Asked)
  | RequestUploadDeletion
  | { type: 'RecordUploadDeletion'; upload: UploadDeleted }
  | ({ type: 'OpenSession' } & NewSession)
  | { type: 'CloseSession'; sessionId: SessionId }
  | { type: 'CloseAllSessions'; exceptOwn?: boolean }
  | { type: 'ConfirmSession' }
  | { type: 'LinkIdentity'; identity: Identity }
) & {
  /** Set if the account's owner asks for it, with a key or signed in. */
  isByOwner?: boolean
  /** The caller's session, which must still be open when the command is decided. */
  session?: SessionId | undefined
  /** Set for a session in test mode. The state knows the modes of keys. */
  livemode?: false
}

/** The key or else the mode of a caller. */
export interface CallerMode extends Asked, Moded {}

/** Endpoints of a family that their last providers turn off at the same time. */
export type Retirement = Omit<Extract<Notice, { kind: 'model_retiring' }>, 'kind' | 'days'>

export interface NewSession {
  sessionId: SessionId
  expiresAt: string
  /** The session of the same browser, which ends. */
  replaces?: SessionId | undefined
  /** Where the browser is, encrypted. */
  place?: string | undefined
}

export interface RequestUploadDeletion extends Asked {
  type: 'RequestUploadDeletion'
  uploadId: UploadId
  /** Refuses an upload that is recorded as stored. */
  unlessStored?: boolean
}

export interface OpenAccount {
  type: 'OpenAccount'
  accountId: AccountId
  identity: Identity
  tester: boolean
  welcomeMicros: number
  /** Credits in addition to the welcome. */
  firstGrant?: Grant | undefined
  /** Missing means none. */
  notices?: NoticeSettings | undefined
  /** Created in the same append, so that the owner of a new account can always use it. */
  firstKey?: NewKey
}

/** The limits to change. One that is `default`, or all of them, is the default again. */
export type LimitChanges = { [Name in keyof AccountLimits]?: number | 'default' } | 'default'

/** Changes the limits that are given. */
export interface SetLimits {
  type: 'SetLimits'
  limits: LimitChanges
}

export interface CreateApiKey {
  type: 'CreateApiKey'
  key: NewKey
  /** The caller's key, which must still be active, and may only create what its mode allows. */
  askedWith?: KeyId | undefined
}

export interface RevokeApiKey {
  type: 'RevokeApiKey'
  keyId: KeyId
  /** The caller's key, as above. */
  askedWith?: KeyId | undefined
}

export type NewKey = Static<typeof ApiKeyCreated> & { scope: KeyScope }

/** Records that a key was used, once a UTC day. */
export interface UseApiKey {
  type: 'UseApiKey'
  keyId: KeyId
}

/** Creates or changes a named budget. */
export interface SetBudget extends Asked {
  type: 'SetBudget'
  name: string
  amountMicros: number
  /** Without one, the amount is for once. */
  period?: BudgetPeriod | undefined
}

export interface RemoveBudget extends Asked {
  type: 'RemoveBudget'
  name: string
}

/** A payment belongs to purchases. */
export type Grant = Omit<Static<typeof CreditsGranted>, 'balanceAfterMicros' | 'payment' | 'lot' | 'expiresAt'> & {
  payment?: Payment | undefined
  expiresAt?: string | undefined
}

/** Without `expiresAt`, the lot never expires. */
export interface ExtendLot {
  type: 'ExtendLot'
  lot: number
  expiresAt?: string | undefined
  reason: string
}

/**
 * Refunds a completed run. The amounts and the facts of its debit come from the account's stream, since the state no
 * longer holds the run.
 */
export interface RefundRun {
  type: 'RefundRun'
  runId: RunId
  amountMicros: number
  chargedMicros: number
  refundedMicros: number
  /** The credits that the run has used and not got back; undefined if that is unknown. */
  uses: readonly LotUse[] | undefined
  debit: DebitFacts
  /** How many refunds the account had when its stream was read. */
  refunds: number
  reason: string
}

export interface OpenPurchase extends Asked {
  type: 'OpenPurchase'
  purchase: PurchaseOpened
  /** How many an account may open in an hour. People who try stolen cards open many. */
  perHour: number
}

export interface SetTopUp extends Asked {
  type: 'SetTopUp'
  settings: TopUpSet
}

/** A payment that failed, or a purchase that could not be opened, has a code. */
export interface FailTopUp {
  type: 'FailTopUp'
  code: string
  purchaseId?: PurchaseId | undefined
}

/** The payment service has no charge for the purchase of a top-up. */
export interface EndTopUp {
  type: 'EndTopUp'
  purchaseId: PurchaseId
}

export interface OpenedCheckout {
  purchaseId: PurchaseId
  checkoutId: string
  url?: string
  expiresAt: string
}

export interface RequestRefund {
  type: 'RequestRefund'
  purchaseId: PurchaseId
  claimId: string
  /** What is left of the purchase if missing. */
  amount?: string | undefined
  reason: string
}

export interface DeclareWithdrawal extends Asked {
  type: 'DeclareWithdrawal'
  purchaseId: PurchaseId
  /** The refund, if there is something to pay back. */
  claimId: string
}

export interface ReportedRefund extends Money {
  type: 'RecordRefund'
  purchaseId: PurchaseId
  claimId: string
  hasFailed: boolean
}

export interface ReportedDispute extends Money {
  type: 'RecordDispute'
  purchaseId: PurchaseId
  claimId: string
  status: 'open' | 'won' | 'lost'
}

export interface QueueRun {
  type: 'QueueRun'
  /** The caller's key, which must still be active and allowed to write when the run is accepted. */
  keyId?: KeyId
  /** Without what a test run has in addition, since its key decides on that. */
  run: Omit<AcceptedRun, 'livemode' | 'receipt' | 'label'>
  receipt: Receipt
  label?: string
  /** The named budget that the run is charged to. */
  budget?: string
  /** The most that the run may cost. */
  maxMicros?: number
  /** The test runs that the account may have in a UTC day. */
  testRunsPerDay?: number
  /** The default limits for runs in flight. */
  runsInFlight?: LimitPair
  /** The upstream if this process has a free permit there, and starts the work as soon as the events are durable. */
  startAt?: Upstream | undefined
}

/** The outcome of a webhook attempt. A failure without a next attempt was the last. */
export interface RecordDelivery {
  type: 'RecordDelivery'
  runId: RunId
  attempt: number
  outcome: { delivered: true; status: number } | ({ delivered: false } & FailedAttempt)
}

/** Mail goes to `mailTo`; without it, to the first e-mail identity. */
export interface SetNotices extends Asked {
  type: 'SetNotices'
  settings: Omit<NoticeSettings, 'login' | 'identityNumber'>
  mailTo?: EmailIdentity | undefined
}

/** The outcome of an attempt to deliver a notice. A failure without a next attempt was the last. */
export interface RecordNotice {
  type: 'RecordNotice'
  number: number
  channel: NoticeChannel
  attempt: number
  outcome:
    | { delivered: true; status?: number }
    | ({ delivered: false } & Omit<Static<typeof NoticeAttemptFailed>, 'number' | 'channel' | 'attempt'>)
}

export interface RedeliverWebhook extends Asked {
  type: 'RedeliverWebhook'
  runId: RunId
  url: string
}

export interface RequestWebhookTest extends Asked {
  type: 'RequestWebhookTest'
  testId: WebhookTestId
  url: string
}

export interface GrantUpload {
  type: 'GrantUpload'
  /** The caller's key, which must still be active and allowed to write when the grant is given. */
  keyId?: KeyId
  upload: UploadGranted
  /** The bytes that the account's uploads may have together. */
  quotaBytes: number
}

export interface SubmittedRun {
  runId: RunId
  jobId: string
  upstream: Upstream
  /** All attempts, if one of them failed. */
  attempts?: RunAttempt[] | undefined
}

export interface Completion extends Worked {
  runId: RunId
  output: RunOutput
  /** How long its files took to store; undefined without files. */
  storingMs?: number | undefined
  usage?: TokenUsage | undefined
  /** Why a text is not complete. */
  finishReason?: 'length' | 'cancelled' | undefined
}

export interface Failure extends Worked {
  runId: RunId
  error: RunError
  /** When files that the run may have stored are deleted; undefined if it can have stored none. */
  willDeleteAt?: string | undefined
}

export interface Worked {
  /** The upstream that did the work, or failed last, if there was one. */
  upstream?: WorkedUpstream | undefined
  /** The cost of the work, unless the upstream has charged nothing. */
  cost?: ProviderCost | undefined
  /** All attempts, if one of them failed and the run became no job. */
  attempts?: RunAttempt[] | undefined
}

export interface Asked {
  /** The caller's key, which must still be active and allowed to write when the command is decided. */
  keyId?: KeyId | undefined
}

type FailedAttempt = Omit<WebhookAttemptFailed, 'runId' | 'attempt'>
