/** The requests of a window are counted together. */
export const WINDOW_SECONDS = 60

/** Counts in windows of a minute. A window begins with the first request that is counted in it. */
export interface RateCounter {
  /**
   * Counts one more of a name. Never rejects, and takes a few milliseconds at most: what processes cannot count
   * together, each counts on its own.
   */
  count(name: string): Promise<RateCount>
  close(): void
}

export interface RateCount {
  /** In the present window, with this one. */
  count: number
  /** Until the next window. */
  leftMs: number
}
