import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

/** A flood of connections must not become a flood of log lines. */
const REPORT_EVERY_MS = 60_000

/** Returns a function to call for each refused connection, which logs their number at most once a minute. */
export const reportRefused = ({ clock, logger }: { clock: Clock; logger: Logger }): (() => void) => {
  let refused = 0
  let nextMs = Number.NEGATIVE_INFINITY
  return () => {
    refused += 1
    const nowMs = clock.monotonicMs()
    if (nowMs < nextMs) return
    logger.warn({ refused }, 'connections were refused')
    refused = 0
    nextMs = nowMs + REPORT_EVERY_MS
  }
}
