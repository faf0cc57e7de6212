/** The requests of a window are counted together. */
export const WINDOW_SECONDS = 60

/** Counts in windows of a minute. A window starts with its first request. */
export interface RateCounter {
  /**
   * Counts a request for a name. Never rejects, and takes at most a few milliseconds: if processes cannot count
   * together, each counts separately.
   */
  count(name: string): Promise<RateCount>
  close(): void
}

export interface RateCount {
  /** The requests in the current window, including this one. */
  count: number
  /** The time until the next window. */
  leftMs: number
}
