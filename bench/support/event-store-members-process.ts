import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { startEventStoreCluster } from '../../test/support/event-store/cluster.ts'
import { startEventStoreServer } from '../../test/support/event-store/server.ts'

/** What the process is asked to do. It is always the first member, which leads at the beginning. */
export type Order = 'hang' | 'resume' | 'kill' | 'start' | 'resign' | 'look'

/** The answer to each order, by the clock that all processes share. */
export interface Seen {
  /** When there was a leader again: the end of the last election, or the return of a single server. */
  electedAtMs: number
  isDown: boolean
}

// The stand-in for EventStoreDB over the log in a folder: three members, or a single server.
const [folder, electionMs, members] = process.argv.slice(2) as [string, string, 'cluster' | 'single']
const log = openLmdbEventLog(folder, error => {
  throw error
})

const startCluster = async () => {
  const cluster = await startEventStoreCluster({ log, electionMs: Number(electionMs) })
  const orders: Record<Order, () => unknown> = {
    hang: () => cluster.hang(0),
    resume: () => cluster.resume(0),
    kill: () => cluster.kill(0),
    start: () => cluster.start(0),
    resign: () => cluster.resign(0),
    look: () => undefined,
  }
  const seen = (): Seen => ({
    electedAtMs: performance.timeOrigin + cluster.electedAtMs,
    isDown: cluster.members[0]?.phase === 'down',
  })
  return { url: cluster.url, orders, seen, close: async () => cluster.close() }
}

const startSingle = async () => {
  let server = await startEventStoreServer({ log })
  let [electedAtMs, isDown] = [Date.now(), false]
  const orders: Partial<Record<Order, () => unknown>> = {
    kill: async () => {
      isDown = true
      await server.close()
    },
    start: async () => {
      server = await startEventStoreServer({ log, port: server.port })
      ;[electedAtMs, isDown] = [Date.now(), false]
    },
    look: () => undefined,
  }
  return { url: server.url, orders, seen: (): Seen => ({ electedAtMs, isDown }), close: () => server.close() }
}

const { url, orders, seen, close } = members === 'single' ? await startSingle() : await startCluster()
process.on('message', async (order: Order | 'stop') => {
  if (order !== 'stop') {
    await orders[order]?.()
    return process.send?.(seen())
  }
  await close()
  await log.close()
  process.exit(0)
})
// A benchmark that fails leaves no server behind.
process.once('disconnect', () => process.exit(1))
process.send?.({ url })
