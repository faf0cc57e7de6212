import type { Static } from 'typebox'
import type {
  ApiKeyCreated,
  CreditsGranted,
  DebitFacts,
  Payment,
  ProviderCost,
  RunError,
  RunOutput,
  RunQueued,
  UploadDeleted,
  UploadGranted,
  UploadStored,
  Upstream,
  WebhookAttemptFailed,
  WorkedUpstream,
} from '../../../schemas/account-events.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import type { AccountId, KeyId, RunId, UploadId, WebhookTestId } from '../../../schemas/primitives.ts'
import type { WebhookTested } from '../../../schemas/webhook-events.ts'

/** The commands that an account accepts. They carry time and ids, since the domain has no clock and no randomness. */
export type AccountCommand =
  | OpenAccount
  | ({ type: 'GrantCredits' | 'WithdrawCredits' } & Grant)
  | RefundRun
  | ({ type: 'CreateApiKey' } & NewKey)
  | { type: 'RevokeApiKey'; keyId: KeyId }
  | QueueRun
  | { type: 'StartRun'; runId: RunId; upstream: Upstream }
  | { type: 'SubmitRun'; runId: RunId; jobId: string; upstream: Upstream }
  | ({ type: 'CancelRun'; runId: RunId } & Asked)
  | ({ type: 'CompleteRun'; runId: RunId; output: RunOutput } & Worked)
  | ({ type: 'FailRun' } & Failure)
  | { type: 'RecordOutputDeletion'; runId: RunId }
  | RecordDelivery
  | { type: 'RedeliverWebhook'; runId: RunId; url: string; owner?: AskedNow }
  | ({ type: 'RotateWebhookSecret' } & AskedNow)
  | ({ type: 'RequestWebhookTest'; testId: WebhookTestId; url: string } & AskedNow)
  | { type: 'RecordWebhookTest'; result: WebhookTested }
  | GrantUpload
  | ({ type: 'StoreUpload'; upload: UploadStored } & Asked)
  | RequestUploadDeletion
  | { type: 'RecordUploadDeletion'; upload: UploadDeleted }

export interface RequestUploadDeletion extends Asked {
  type: 'RequestUploadDeletion'
  uploadId: UploadId
  /** Refuses an upload that is recorded as stored. */
  unlessStored?: boolean
}

export interface OpenAccount {
  type: 'OpenAccount'
  accountId: AccountId
  email: string
  tester: boolean
  welcomeMicros: number
  /** Created in the same append, so that the owner of a new account can always use it. */
  firstKey?: NewKey
}

export type NewKey = Required<Static<typeof ApiKeyCreated>>

/** A payment belongs to purchases. */
export type Grant = Omit<Static<typeof CreditsGranted>, 'balanceAfterMicros' | 'payment'> & {
  payment?: Payment | undefined
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
  debit: DebitFacts
  /** How many refunds the account had when its stream was read. */
  refunds: number
  reason: string
}

export interface QueueRun {
  type: 'QueueRun'
  /** The caller's key, which must still be active and allowed to write when the run is accepted. */
  keyId?: KeyId
  /** Milliseconds since 1970, to tell whether an idempotency key is still remembered, and earlier failures count. */
  atMs: number
  run: RunQueued
  receipt: Receipt
  label?: string
  /** The upstream if this process has a free slot there, and starts the work as soon as the events are durable. */
  startAt?: Upstream | undefined
}

/** The outcome of a webhook attempt. A failure without a next attempt was the last. */
export interface RecordDelivery {
  type: 'RecordDelivery'
  runId: RunId
  attempt: number
  outcome: { delivered: true; status: number } | ({ delivered: false } & FailedAttempt)
}

export interface GrantUpload {
  type: 'GrantUpload'
  /** The caller's key, which must still be active and allowed to write when the grant is given. */
  keyId?: KeyId
  upload: UploadGranted
  /** The bytes that the account's uploads may have together. */
  quotaBytes: number
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
  /** What it costs, unless the upstream has charged nothing. */
  cost?: ProviderCost | undefined
}

interface Asked {
  /** The caller's key, which must still be active and allowed to write when the command is decided. */
  keyId?: KeyId | undefined
}

/** `atMs` is the time in ms since 1970, to which limits refer. */
export interface AskedNow extends Asked {
  atMs: number
}

type FailedAttempt = Omit<WebhookAttemptFailed, 'runId' | 'attempt'>
