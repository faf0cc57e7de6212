/**
 * Fetches the file behind an input's `image_url`: a Tollgate URL, a public URL or a `data:` URL.
 * Rejects with InputMediaError if the file is unusable.
 */
export type LoadInputMedia = (url: string, signal: AbortSignal) => Promise<InputMedia>

export interface InputMedia {
  mimeType: string
  bytes: Uint8Array
}

/** The message is shown to the client. */
export class InputMediaError extends Error {
  override name = 'InputMediaError'
}
