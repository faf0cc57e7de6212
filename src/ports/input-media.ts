/**
 * Fetches what an input's `image_url` points to: one of our own addresses, a public one, or a `data:` URL.
 * Rejects with InputMediaError when there is nothing usable.
 */
export type LoadInputMedia = (url: string, signal: AbortSignal) => Promise<InputMedia>

export interface InputMedia {
  mimeType: string
  bytes: Uint8Array
}

/** The message is for the client whose input it was. */
export class InputMediaError extends Error {
  override name = 'InputMediaError'
}
