import type { Clock } from '../../ports/clock.ts'
import { callWithin } from '../../time/call-within.ts'

/**
 * The time limit for submitting, polling or cancelling a job: several times what working providers take, yet a hanging
 * one is noticed well within a run's time limit.
 */
export const CALL_TIMEOUT_MS = 30_000

/** Calls a provider. Rejects after the time limit, or when `stop` aborts. */
export const callProvider = <Answer>(
  clock: Clock,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Answer>,
  stop?: AbortSignal,
): Promise<Answer> => {
  const tooLate = () => {
    throw new Error(`no answer within ${timeoutMs} ms`)
  }
  return callWithin(clock, timeoutMs, call, tooLate, stop)
}
