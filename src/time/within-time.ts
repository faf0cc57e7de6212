import type { Clock } from '../ports/clock.ts'

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
