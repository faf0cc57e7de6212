/** Scales pictures down, for readers who cannot take large ones. */
export interface PictureScaler {
  /**
   * A JPEG whose longer side is at most `maxSide` pixels; undefined if the bytes are no picture or a too large one.
   * Rejects if the signal aborts first. Customers take turns.
   */
  scale(bytes: Uint8Array, maxSide: number, signal: AbortSignal, customer: string): Promise<Uint8Array | undefined>
  /** Ends the work in progress. */
  close(): Promise<void>
}
