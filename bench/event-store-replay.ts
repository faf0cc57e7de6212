import type { Benchmark } from './support/compare.ts'
import { startEventStore } from './support/event-store.ts'
import { startClients } from './support/event-store-clients.ts'
import { fillEventStore } from './support/event-store-sides.ts'
import { EVENTS_PER_RUN } from './support/fill.ts'

const EVENTS = 60_000
const ACCOUNTS = 100

/**
 * The vendor's readAll takes no filter, so the log holds our events only, and both sides deliver the same ones. For
 * servers with other events, both start at a mark just before the events that are written here.
 */
export const eventStoreReplay: Benchmark = {
  name: 'event-store-replay',
  question: 'events that readAll delivers from EventStoreDB',
  baseline: "the vendor client's readAll of the same events, unfiltered",
  unit: 'events/s',
  goal: { atLeast: 0.9 },
  prepare: async () => {
    const server = await startEventStore()
    const clients = await startClients(server.url)
    await clients.vendor.mark()
    await clients.tollgate.mark()
    await fillEventStore(server.url, { runs: EVENTS / EVENTS_PER_RUN, accounts: ACCOUNTS })
    return {
      baseline: () => clients.vendor.replay({ atLeast: EVENTS }),
      measured: () => clients.tollgate.replay({ atLeast: EVENTS }),
      close: async () => {
        await clients.stop()
        await server.stop()
      },
    }
  },
}
