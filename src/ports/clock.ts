/** Time and timers. Tests and simulations set and drive them. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. It may jump. */
  nowMs(): number
  /** Milliseconds since some moment, to measure durations. It never jumps. */
  monotonicMs(): number
  /** Calls back once after a delay. */
  timer(delayMs: number, callback: () => void): Timer
}

export interface Timer {
  cancel(): void
  /** Lets the process end before the timer does. */
  unref(): this
}
