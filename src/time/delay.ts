import type { Clock } from '../ports/clock.ts'

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
