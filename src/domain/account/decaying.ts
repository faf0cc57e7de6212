import { CLOCK_TOLERANCE_MS, type Decaying } from './state.ts'

/**
 * What still counts, if each one counts for `eachMs`. A clock that is a little behind forgets nothing. Counts of a
 * clock that was far ahead are void, since they would count for too long.
 */
export const decayed = ({ count, atMs }: Decaying, nowMs: number, eachMs: number): Decaying => {
  if (nowMs < atMs - CLOCK_TOLERANCE_MS) return { count: 0, atMs: nowMs }
  const passedMs = Math.max(0, nowMs - atMs)
  return { count: Math.max(0, count - passedMs / eachMs), atMs: atMs + passedMs }
}
