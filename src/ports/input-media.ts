import type { AccountId, RunId } from '../../schemas/primitives.ts'

/**
 * Finds the file behind an input's `image_url`: a Tollgate URL, a public URL or a `data:` URL. Loads nothing of it yet.
 * Rejects with InputMediaError if there is none.
 */
export type FindInputMedia = (url: string) => Promise<FoundMedia>

export interface FoundMedia {
  /** The most bytes that the file may have. */
  maxBytes: number
  /** Loads the file. Reports its size once that is known. Rejects with InputMediaError if the file is unusable. */
  load(signal: AbortSignal, onSize: (sizeBytes: number) => void): Promise<InputMedia>
}

/** A file that a run needs. */
export interface InputSource {
  url: string
  runId: RunId
  accountId: AccountId
  /** Whether the work with the file takes minutes. */
  isLong: boolean
}

/**
 * Loads a file and keeps it in memory while `use` works with it, which may also give its bytes away. Waits until the
 * account may load another. Rejects with InputMediaError if the file is unusable, and if the signal aborts.
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
