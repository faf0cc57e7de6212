import type { RunErrorCode } from '../../schemas/account-events.ts'
import type { RunId } from '../../schemas/primitives.ts'

/**
 * Somebody who runs models. Failures of the work are outcomes; a rejection is a broken provider. Signals abort when the
 * answer is no longer waited for.
 */
export interface Provider {
  /**
   * Asks for the work. The run id is the idempotency key: a provider that is asked again for the same run does the work
   * once. It answers with the outcome, or with the job to ask after.
   */
  submit(job: Job, signal: AbortSignal): Promise<Outcome | Submitted>
  /** Asks after a job. Only providers that answer with jobs have it. */
  poll?(job: SubmittedJob, signal: AbortSignal): Promise<Outcome | Working>
  /** Gives a job up, as far as the provider can. What it has done by then may still come as an outcome. */
  cancel?(job: SubmittedJob, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface Job {
  runId: RunId
  endpoint: string
  /** Valid for the endpoint's schema, defaults applied. */
  input: Record<string, unknown>
}

/** A job that the provider has taken, under its own id. */
export interface SubmittedJob extends Job {
  jobId: string
}

export interface Submitted {
  kind: 'submitted'
  jobId: string
  /** When to ask first. */
  pollAfterMs: number
}

export interface Working {
  kind: 'working'
  pollAfterMs: number
  /** From 0 to 1, where the provider tells. */
  progress?: number
}

export type Outcome = Done | Failed

export interface Done {
  kind: 'done'
  media: Media[]
  text?: string
}

export interface Failed {
  kind: 'failed'
  code: RunErrorCode
  message: string
  /** True when the same request may succeed a little later. */
  retryable?: boolean
}

/** A picture, film or sound: in full, or where to copy it from. */
export type Media = { mimeType: string; bytes: Uint8Array } | { mimeType: string; url: string }
