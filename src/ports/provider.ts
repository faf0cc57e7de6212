import type { RunErrorCode } from '../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'

/**
 * An account at a provider, which runs models. A failed job is an outcome. A rejection means that nobody knows whether
 * the provider accepted the call. The signal aborts when the caller stops waiting.
 */
export interface Provider {
  /** Whether it runs a job once even if it is submitted again, by its run id. No vendor does. */
  readonly deduplicates?: boolean
  /** Submits a job, and resolves to the outcome or to a job to poll. */
  submit(job: Job, signal: AbortSignal): Promise<ProviderOutcome | Submitted>
  /** Polls a job. Only asynchronous providers implement it. */
  poll?(job: SubmittedJob, signal: AbortSignal): Promise<ProviderOutcome | Working>
  /** Cancels a job if the provider can. Its outcome may still arrive. */
  cancel?(job: SubmittedJob, signal: AbortSignal): Promise<void>
  /** Makes the cheapest call that shows whether the account can be used. Rejects with words for the operator. */
  check?(signal: AbortSignal): Promise<void>
  /** Reads what the provider reports of a job that has ended. Only providers that report anything implement it. */
  readonly readCallback?: ReadCallback
  close(): Promise<void>
}

export interface Job {
  runId: RunId
  accountId: AccountId
  endpoint: string
  /** Valid for the endpoint's schema, defaults applied. */
  input: Record<string, unknown>
  upstream: UpstreamRequest
}

/** What the provider is asked for, in its own words. */
export interface UpstreamRequest extends UpstreamModel {
  /** By the provider's names and in its units. A file is a FileReference. */
  parameters: Record<string, unknown>
}

export interface UpstreamModel {
  /** The provider's id of the model. */
  model: string
  /** One of the adapter's operations, such as `images.generate`. */
  operation: string
  /** Where the addresses of files are in the result, such as `images.*.url`, if that depends on the model. */
  output?: string | undefined
}

/** A file that is loaded when the job is submitted; `url` is the client's. */
export interface FileReference {
  fileUrl: string
}

/** A job that the provider accepted. */
export interface SubmittedJob extends Omit<Job, 'input' | 'upstream'> {
  /** The provider's id for it. */
  jobId: string
  upstream: UpstreamModel
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
  work?: Work
}

export interface Failed {
  kind: 'failed'
  code: RunErrorCode
  message: string
  /** Whether the same request may succeed soon, here or at another provider, which has not accepted it. */
  retryable?: boolean
  /** Why the provider takes no job now, whatever the job is. */
  fault?: ProviderFault
  work?: Work
}

/**
 * The first two concern the account at the provider and last until the operator acts; `rate_limited` concerns the
 * account and passes; the others concern the provider or the model. With `gone`, the account does not have the model.
 */
export interface ProviderFault {
  kind: 'unauthorized' | 'out_of_quota' | 'rate_limited' | 'overloaded' | 'unreachable' | 'gone'
  /** How long to wait, if the provider says so. */
  retryAfterMs?: number
}

/** What the provider reports of its work. */
export interface Work {
  /** The version of the model that did it. */
  version?: string
  /** Billed quantities by the provider's names, such as `output_tokens`. */
  units?: Record<string, number>
  /** Only if the provider states the amount itself. */
  cost?: { amountMicros: number; currency: string }
}

/** An image, video or audio file: its bytes, or a URL to copy it from. */
export type Media = { mimeType: string; bytes: Uint8Array } | { mimeType: string; url: string }

/** By names in lower case, as Node.js gives them. */
export type CallbackHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A job that its provider reports to have ended, by the last part of its id. */
export interface ReportedJob {
  jobId: string
}

/**
 * Reads a provider's report of a job; undefined if the provider has not signed it just now. Rejects if that cannot be
 * told at the moment, so that the provider should report again. Logs nothing, since bodies can hold secrets.
 */
export type ReadCallback = (
  headers: CallbackHeaders,
  rawBody: Uint8Array,
  nowMs: number,
) => Promise<ReportedJob | undefined>
