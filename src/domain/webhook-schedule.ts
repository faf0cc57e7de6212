const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** A receiver that takes longer has failed: Standard Webhooks asks for 15 to 30 s. */
export const ATTEMPT_TIMEOUT_MS = 15 * SECOND

/**
 * The waits between attempts, as the Standard Webhooks specification proposes. A receiver that restarts gets its
 * webhook within seconds, and a receiver that is fixed after a long weekend still gets it.
 */
const WAITS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]

export const MAX_ATTEMPTS = WAITS_MS.length + 1

/** The time from the first attempt to the last if no wait is lengthened. */
export const ATTEMPTS_SPAN_MS = WAITS_MS.reduce((sum, waitMs) => sum + waitMs, 0)

/** A wait is lengthened by up to this fraction, so that deliveries that failed together do not retry together. */
const JITTER = 0.1

/** The longest wait between two attempts. */
export const MAX_WAIT_MS = Math.max(...WAITS_MS) * (1 + JITTER)

/** A receiver may ask for a longer wait, up to the longest one above. */
const MAX_RETRY_AFTER_MS = 24 * HOUR

/**
 * When to try again after an attempt, in milliseconds since 1970; undefined after the last attempt. Attempts count from
 * 1. `chance` is a number from 0 to 1, and `retryAfterMs` the wait that the receiver requested.
 */
export const nextAttemptMs = (attempt: number, nowMs: number, chance: number, retryAfterMs = 0): number | undefined => {
  const waitMs = WAITS_MS[attempt - 1]
  if (waitMs === undefined) return undefined
  return nowMs + Math.round(Math.max(waitMs * (1 + JITTER * chance), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)))
}
