import type { RunErrorCode } from '../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'

/**
 * Runs models. A failed job is an outcome; a rejection means that the provider is broken. The signal aborts when the
 * caller stops waiting.
 */
export interface Provider {
  /**
   * Submits a job, and resolves to the outcome or to a job to poll. The run id is the idempotency key: a provider runs
   * a job once, even if it is submitted again.
   */
  submit(job: Job, signal: AbortSignal): Promise<ProviderOutcome | Submitted>
  /** Polls a job. Only asynchronous providers implement it. */
  poll?(job: SubmittedJob, signal: AbortSignal): Promise<ProviderOutcome | Working>
  /** Cancels a job if the provider can. Its outcome may still arrive. */
  cancel?(job: SubmittedJob, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface Job {
  runId: RunId
  accountId: AccountId
  endpoint: string
  /** Valid for the endpoint's schema, defaults applied. */
  input: Record<string, unknown>
}

/** A job that the provider accepted. */
export interface SubmittedJob extends Omit<Job, 'input'> {
  /** The provider's id for it. */
  jobId: string
  /** Reads the input, which few providers need again. */
  input(): Promise<Job['input']>
}

export interface Submitted {
  kind: 'submitted'
  jobId: string
  /** How long to wait before the first poll. */
  pollAfterMs: number
}

export interface Working {
  kind: 'working'
  pollAfterMs: number
  /** From 0 to 1, if the provider reports it. */
  progress?: number
}

export type ProviderOutcome = Done | Failed

export interface Done {
  kind: 'done'
  media: Media[]
  text?: string
}

export interface Failed {
  kind: 'failed'
  code: RunErrorCode
  message: string
  /** Whether the same request may succeed soon. */
  retryable?: boolean
}

/** An image, video or audio file: its bytes, or a URL to copy it from. */
export type Media = { mimeType: string; bytes: Uint8Array } | { mimeType: string; url: string }
