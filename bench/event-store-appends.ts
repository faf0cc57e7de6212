import type { Benchmark } from './support/compare.ts'
import { startEventStore } from './support/event-store.ts'
import { startClients } from './support/event-store-clients.ts'

/** About two seconds for the vendor's client on two cores. */
const APPENDS = 10_000

const ofWriters = (writers: number): Benchmark => ({
  name: `event-store-appends-${writers}`,
  question: `appends of one event to EventStoreDB, ${writers} sequential writers, each on its own stream`,
  baseline: "the vendor client's appendToStream with the same events and expected revisions",
  unit: 'appends/s',
  goal: { atLeast: 0.9 },
  prepare: async () => {
    const server = await startEventStore()
    const clients = await startClients(server.url)
    return {
      baseline: () => clients.vendor.append({ writers, appends: APPENDS }),
      measured: () => clients.tollgate.append({ writers, appends: APPENDS }),
      close: async () => {
        await clients.stop()
        await server.stop()
      },
    }
  },
})

export const eventStoreAppends: Benchmark[] = [50, 256].map(ofWriters)
