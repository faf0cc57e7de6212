import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { FilePlace } from '../domain/catalog/inputs.ts'

/**
 * Finds a file of an input by its URL: a Tollgate URL, a public URL or a `data:` URL. Loads nothing yet. Rejects with
 * InputMediaError if there is no such file.
 */
export type FindInputMedia = (url: string, parameter?: FilePlace) => Promise<FoundMedia>

/** A file of an input. The parameter is `image_url` if it is missing. */
export interface InputFile {
  url: string
  parameter?: FilePlace | undefined
}

export interface FoundMedia {
  /** The largest allowed size. */
  maxBytes: number
  /** Loads the file. Reports its size once it is known. Rejects with InputMediaError if the file is unusable. */
  load(signal: AbortSignal, onSize: (sizeBytes: number) => void): Promise<InputMedia>
}

/** A file that a run needs, and the other files that it needs at the same time. */
export interface InputSource extends InputFile {
  further?: InputFile[]
  runId: RunId
  accountId: AccountId
  /** Whether the work with the file takes minutes. */
  isLong: boolean
}

/**
 * Loads the files of a source, and keeps them in memory while `use` runs, which may also give their bytes away. Waits
 * until the account may load more. Rejects with InputMediaError if a file is unusable, and if the signal aborts.
 */
export type UseInputMedia = <Result>(
  source: InputSource,
  signal: AbortSignal,
  use: (media: InputMedia, ...further: InputMedia[]) => Promise<Result>,
) => Promise<Result>

export interface InputMedia {
  mimeType: string
  bytes: Uint8Array
}

/** The client sees the message. */
export class InputMediaError extends Error {
  override name = 'InputMediaError'
  /** The parameter of the file. */
  parameter: FilePlace = 'image_url'
}
