import type { Clock } from '../ports/clock.ts'
import type { Semaphore } from './semaphore.ts'

/** A host that takes longer gets fewer requests at a time. */
const SLOW_MS = 5_000

interface Dependencies {
  limits: Pick<Semaphore, 'adapt'>
  clock: Clock
}

/** Sends a request to a host, and adapts its limit to the time that it takes. */
export const adaptToHost = async <Result>(
  { limits, clock }: Dependencies,
  host: string,
  send: () => Promise<Result>,
): Promise<Result> => {
  const sentAtMs = clock.monotonicMs()
  try {
    return await send()
  } finally {
    limits.adapt(host, clock.monotonicMs() - sentAtMs > SLOW_MS)
  }
}
