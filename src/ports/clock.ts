/** The current time, which tests can set. */
export interface Clock {
  nowMs(): number
}
