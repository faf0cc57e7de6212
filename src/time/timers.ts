import { setMaxListeners } from 'node:events'
import type { Clock } from '../ports/clock.ts'
import { Unavailable } from '../ports/faults.ts'

/** Resolves after a delay, or as soon as the signal aborts. */
export const delay = (clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const end = () => {
      timer.cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.timer(delayMs, end)
    signal?.addEventListener('abort', end)
  })

/** Does work at intervals until the returned function is called. */
export const every = (clock: Clock, intervalMs: number, work: () => void): (() => void) => {
  const tick = () => {
    timer = clock.timer(intervalMs, tick)
    work()
  }
  let timer = clock.timer(intervalMs, tick)
  return () => timer.cancel()
}

/**
 * Settles like the promise, or with `onLate` after a time limit, or with the signal's reason when it aborts. The usual
 * libraries create an error with a stack for every call, which was a fifteenth of the work of a short request.
 */
export const withinTime = <Value, Late>(
  clock: Clock,
  promise: Promise<Value>,
  timeoutMs: number,
  onLate: () => Late,
  signal?: AbortSignal,
): Promise<Value | Late> =>
  new Promise((resolve, reject) => {
    const abort = () => end(() => reject(signal?.reason))
    const timer = clock.timer(timeoutMs, () => {
      end(() => {
        try {
          resolve(onLate())
        } catch (error) {
          reject(error)
        }
      })
    })
    const end = (settle: () => void) => {
      timer.cancel()
      signal?.removeEventListener('abort', abort)
      settle()
    }
    promise.then(
      value => end(() => resolve(value)),
      error => end(() => reject(error)),
    )
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  })

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

/** How long to wait between attempts while the log accepts no writes. */
const RETRY_MS = 500

/** Repeats work until it no longer rejects with Unavailable. Rejects with it once `mayRetry` is false. */
export const retryUntilAvailable = async <Result>(
  clock: Clock,
  work: () => Promise<Result>,
  mayRetry: () => boolean,
): Promise<Result> => {
  while (true) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || !mayRetry()) throw error
      await delay(clock, RETRY_MS)
    }
  }
}
