import type { Slots } from '../../flow/slots.ts'
import type { Clock } from '../../ports/clock.ts'

/** A host that takes longer gets fewer requests at a time. */
const SLOW_MS = 5_000

interface Parts {
  slots: Slots
  clock: Clock
}

/** Sends a request to a host, and adapts the number of its slots to the time that it takes. */
export const adaptToHost = async <Result>(
  { slots, clock }: Parts,
  host: string,
  send: () => Promise<Result>,
): Promise<Result> => {
  const sentAtMs = clock.monotonicMs()
  try {
    return await send()
  } finally {
    slots.adapt(host, clock.monotonicMs() - sentAtMs > SLOW_MS)
  }
}
