import { setTimeout as delay } from 'node:timers/promises'
import { Unavailable } from '../ports/faults.ts'

/** How long to wait between attempts while the log accepts no writes. */
const RETRY_MS = 500

/** Repeats work that writes to the log until the log is available. Rejects with Unavailable once it may not go on. */
export const onceAvailable = async <Result>(work: () => Promise<Result>, mayGoOn: () => boolean): Promise<Result> => {
  while (true) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Unavailable) || !mayGoOn()) throw error
      await delay(RETRY_MS)
    }
  }
}
