import type { RunErrorCode } from '../../schemas/account-events.ts'
import type { ToolCall } from '../../schemas/conversation.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'

/**
 * An account at a provider, which runs models. A failed job is an outcome. A rejection means that it is unknown whether
 * the provider accepted the call. The signal aborts when the caller stops waiting.
 */
export interface Provider {
  /** Whether a job runs only once even if it is submitted again with its run ID. No vendor guarantees this. */
  readonly deduplicates?: boolean
  /** Submits a job, and resolves to the outcome or to a job to poll. */
  submit(job: Job, signal: AbortSignal): Promise<ProviderOutcome | Submitted>
  /** Polls a job. Only asynchronous providers implement it. */
  poll?(job: SubmittedJob, signal: AbortSignal): Promise<ProviderOutcome | Working>
  /** Cancels a job if the provider can. Its outcome may still arrive. */
  cancel?(job: SubmittedJob, signal: AbortSignal): Promise<void>
  /** Makes the cheapest call that shows whether the account works. Rejects with a message for the operator. */
  check?(signal: AbortSignal): Promise<void>
  /** Reads the provider's reports of ended jobs. Only providers that send reports implement it. */
  readonly readCallback?: ReadCallback
  /** Releases what the adapter holds. Only the sandbox implements it. */
  close?(): Promise<void>
}

export interface Job {
  runId: RunId
  accountId: AccountId
  endpoint: string
  /** Valid for the endpoint's schema, with defaults. */
  input: Record<string, unknown>
  upstream: UpstreamRequest
  /** Opens a file for a part of the outcome. The caller discards it after it has stored the outcome. */
  openFile: OpenFile
  /**
   * If it is set, a text is asked for as a stream, and each further piece is handed over as it arrives. After the first
   * piece, a stream without its proper end rejects.
   */
  onText?: (text: string) => void
}

export type OpenFile = () => ArrivingFile

/** A large file of an outcome. Its methods never reject: a fault shows when the outcome is stored. */
export interface ArrivingFile {
  /** If it returns a promise, no more bytes may follow until the promise resolves. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** Resolves when the file takes no more memory. */
  end(): Promise<void>
}

/** The request, in the provider's terms. */
export interface UpstreamRequest extends UpstreamModel {
  /** With the provider's names and units. A file is a FileReference. */
  parameters: Record<string, unknown>
}

export interface UpstreamModel {
  /** The provider's ID of the model. */
  model: string
  /** One of the adapter's operations, such as `images.generate`. */
  operation: string
  /** The path of file addresses in the result, such as `images.*.url`, if it depends on the model. */
  output?: string | undefined
}

/** A file that is loaded when the job is submitted. `url` is the client's URL. */
export interface FileReference {
  fileUrl: string
}

/** A job that the provider accepted. */
export interface SubmittedJob extends Omit<Job, 'input' | 'upstream' | 'onText'> {
  /** The provider's ID of the job. */
  jobId: string
  upstream: UpstreamModel
  /** Reads the input again, which few providers need. */
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
  toolCalls?: ToolCall[]
  /** Why a text is not complete: the model reached its limit, or the text was cut off. */
  finish?: 'length' | 'cancelled'
  work?: Work
}

export interface Failed {
  kind: 'failed'
  code: RunErrorCode
  message: string
  /** Of the provider's response, if there was one. */
  status?: number
  /** Whether the same request may succeed soon, here or at another provider. The provider has not accepted it. */
  retryable?: boolean
  /** The reason why the provider currently takes no jobs, if the fault is not the job's. */
  fault?: ProviderFault
  work?: Work
}

/**
 * The first two concern the account at the provider and last until the operator acts. `rate_limited` concerns the
 * account, and is temporary. The others concern the provider or the model. `gone`: the account does not have the model.
 */
export interface ProviderFault {
  kind: 'unauthorized' | 'out_of_quota' | 'rate_limited' | 'overloaded' | 'unreachable' | 'gone'
  /** The wait that the provider asks for. */
  retryAfterMs?: number
}

/** The provider's report of its work. */
export interface Work {
  /** The version of the model. */
  version?: string
  /** Billed quantities by the provider's names, such as `output_tokens`. */
  units?: Record<string, number>
  /** Set only if the provider states the amount. */
  cost?: { amountMicros: number; currency: string }
}

/** An image, video or audio file: its contents, or a URL to copy it from. */
export type Media = { mimeType: string } & (Contents | { url: string })

/** The bytes of a file, or the file if it is large. */
export type Contents = { bytes: Uint8Array } | { file: ArrivingFile }

/** The names are in lower case, as in Node.js. */
export type CallbackHeaders = Readonly<Record<string, string | string[] | undefined>>

/** An ended job that its provider reports, by the last part of its ID. */
export interface ReportedJob {
  jobId: string
}

/**
 * Reads a provider's report of a job; undefined unless the provider signed it recently. Rejects if the signature cannot
 * be checked at the moment, so that the provider reports again. Logs nothing, since bodies can hold secrets.
 */
export type ReadCallback = (
  headers: CallbackHeaders,
  rawBody: Uint8Array,
  nowMs: number,
) => Promise<ReportedJob | undefined>
