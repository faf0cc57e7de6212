import type { AccountId, RunId } from '../../schemas/primitives.ts'

/**
 * Fetches the file behind an input's `image_url`: a Tollgate URL, a public URL or a `data:` URL.
 * Rejects with InputMediaError if the file is unusable.
 */
export type LoadInputMedia = (url: string, signal: AbortSignal) => Promise<InputMedia>

/** A file that a run needs. */
export interface InputSource {
  url: string
  runId: RunId
  accountId: AccountId
  /** Whether the work with the file takes minutes. */
  isLong: boolean
}

/**
 * Loads a file and keeps it in memory while `use` works with it. Waits until the account may load another. Rejects like
 * LoadInputMedia, and if the signal aborts.
 */
export type UseInputMedia = <Result>(
  source: InputSource,
  signal: AbortSignal,
  use: (media: InputMedia) => Promise<Result>,
) => Promise<Result>

export interface InputMedia {
  mimeType: string
  bytes: Uint8Array
}

/** The message is shown to the client. */
export class InputMediaError extends Error {
  override name = 'InputMediaError'
}
