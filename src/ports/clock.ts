/** The time, so that a test can set it. */
export interface Clock {
  nowMs(): number
}
