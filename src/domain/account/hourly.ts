import { CLOCK_TOLERANCE_MS } from './state.ts'

const HOUR_MS = 60 * 60 * 1000

/**
 * How long to wait until there were fewer than `limit` within the last hour; undefined if there are now. No more times
 * than `limit` are given. Those of a clock that is a little ahead count. Those of a clock that was far ahead do not,
 * since they would count for too long.
 */
export const hourlyWaitMs = (times: readonly number[], limit: number, nowMs: number): number | undefined => {
  const recent = times.filter(atMs => atMs > nowMs - HOUR_MS && atMs <= nowMs + CLOCK_TOLERANCE_MS)
  return recent.length < limit ? undefined : Math.min(...recent) + HOUR_MS - nowMs
}
