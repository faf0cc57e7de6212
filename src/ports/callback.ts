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
