import type { Clock } from '../ports/clock.ts'

/** Does work at intervals until the returned function is called. */
export const every = (clock: Clock, intervalMs: number, work: () => void): (() => void) => {
  const tick = () => {
    timer = clock.timer(intervalMs, tick)
    work()
  }
  let timer = clock.timer(intervalMs, tick)
  return () => timer.cancel()
}
