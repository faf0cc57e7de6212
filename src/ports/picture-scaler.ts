/** Scales pictures down for readers with a size limit. */
export interface PictureScaler {
  /**
   * A JPEG whose longer side is at most `maxSide` pixels; undefined if the bytes are not a picture, or too large.
   * Rejects if the signal aborts first. Serves customers round robin.
   */
  scale(bytes: Uint8Array, maxSide: number, signal: AbortSignal, customer: string): Promise<Uint8Array | undefined>
  /** The same as a WebP of at most this width, and at most four times as high. */
  scaleToWidth(
    bytes: Uint8Array,
    maxWidth: number,
    signal: AbortSignal,
    customer: string,
  ): Promise<Uint8Array | undefined>
  /** Ends the work in progress. */
  close(): Promise<void>
}
