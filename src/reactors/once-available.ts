import type { Clock } from '../ports/clock.ts'
import { Unavailable } from '../ports/faults.ts'
import { delay } from '../time/delay.ts'

/** How long to wait between attempts while the log accepts no writes. */
const RETRY_MS = 500

/** Repeats work that writes to the log until the log is available. Rejects with Unavailable once it may not go on. */
export const onceAvailable = async <Result>(
  clock: Clock,
  work: () => Promise<Result>,
  mayGoOn: () => boolean,
): Promise<Result> => {
  while (true) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || !mayGoOn()) throw error
      await delay(clock, RETRY_MS)
    }
  }
}
