import type {
  RunError,
  RunOutput,
  RunQueued,
  UploadDeleted,
  UploadGranted,
  UploadStored,
  WebhookAttemptFailed,
} from '../../../schemas/account-events.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import type { AccountId, KeyId, RunId, UploadId } from '../../../schemas/primitives.ts'

/** What can be wanted of an account. Time and ids are inside, since the domain has neither clock nor chance. */
export type AccountCommand =
  | { type: 'OpenAccount'; accountId: AccountId; email: string; tester: boolean; welcomeMicros: number }
  | { type: 'GrantCredits'; amountMicros: number; reason: string }
  | { type: 'CreateApiKey'; keyId: KeyId; name: string; hash: string; lastFour: string }
  | { type: 'RevokeApiKey'; keyId: KeyId }
  | QueueRun
  | { type: 'StartRun'; runId: RunId }
  | { type: 'SubmitRun'; runId: RunId; jobId: string }
  | { type: 'CancelRun'; runId: RunId }
  | { type: 'CompleteRun'; runId: RunId; output: RunOutput }
  | { type: 'FailRun'; runId: RunId; error: RunError }
  | { type: 'RecordOutputDeletion'; runId: RunId }
  | RecordDelivery
  | { type: 'RedeliverWebhook'; runId: RunId; url: string }
  | GrantUpload
  | { type: 'StoreUpload'; upload: UploadStored }
  | { type: 'RequestUploadDeletion'; uploadId: UploadId }
  | { type: 'RecordUploadDeletion'; upload: UploadDeleted }

export interface QueueRun {
  type: 'QueueRun'
  /** The key that the client asks with; it must still be active when the run is accepted. */
  keyId?: KeyId
  /** Milliseconds since 1970, to tell whether an idempotency key is still remembered. */
  atMs: number
  run: RunQueued
  receipt: Receipt
  /** True when the asker has a free slot, and will begin the work as soon as the events are durable. */
  startNow: boolean
}

/** What came of an attempt to tell a receiver of a run's end. A failure without a next attempt was the last. */
export interface RecordDelivery {
  type: 'RecordDelivery'
  runId: RunId
  attempt: number
  outcome: { delivered: true; status: number } | ({ delivered: false } & Failure)
}

export interface GrantUpload {
  type: 'GrantUpload'
  /** The key that the client asks with; it must still be active when the grant is given. */
  keyId: KeyId
  upload: UploadGranted
}

type Failure = Omit<WebhookAttemptFailed, 'runId' | 'attempt'>
