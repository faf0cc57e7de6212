import { setTimeout as delay } from 'node:timers/promises'
import { Unavailable } from '../ports/faults.ts'

/** How long to wait before something is offered again to a log that takes no writes. */
const RETRY_MS = 500

/** Does something that the log may take no writes for now, over and over, as long as it may go on. */
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
