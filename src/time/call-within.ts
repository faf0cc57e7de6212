import { setMaxListeners } from 'node:events'
import type { Clock } from '../ports/clock.ts'
import { withinTime } from './within-time.ts'

/**
 * Makes a call that takes a signal. Settles with `onLate` after the time limit, or rejects when `stop` aborts, even if
 * the call ignores its signal, which then aborts.
 */
export const callWithin = async <Result>(
  clock: Clock,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
  onLate: () => never,
  stop?: AbortSignal,
): Promise<Result> => {
  stop?.throwIfAborted()
  const abort = new AbortController()
  // The parts of a call all listen.
  setMaxListeners(Number.POSITIVE_INFINITY, abort.signal)
  try {
    return await withinTime(clock, call(abort.signal), timeoutMs, onLate, stop)
  } catch (error) {
    abort.abort(error)
    throw error
  }
}
