import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { disturbService, holdsSoon, type Load } from '../support/disturbed-service.ts'
import { openLog } from '../support/engine.ts'
import { type EventStoreCluster, startEventStoreCluster } from '../support/event-store/cluster.ts'
import type { Faults } from '../support/event-store/faults.ts'
import { startEventStoreServer } from '../support/event-store/server.ts'

t.setTimeout(240_000)

/** Shorter than the default to keep the tests short. */
const ELECTION_MS = 1000

/** Longer than the pause of a client, so that events are written in this time. */
const UNANSWERED_MS = 100

interface Change {
  /** Parameters appended to the URL. */
  url?: string
  disturb(cluster: EventStoreCluster, load: Load): Promise<void>
}

const changes: Record<string, Change> = {
  'hangs and returns deposed': {
    disturb: async (cluster, load) => {
      await leaveUnanswered(cluster.members[0])
      await cluster.hang(0)
      await elected(cluster)
      await load.runsGoOn()
      cluster.resume(0)
      await down(cluster)
      await cluster.start(0)
      await load.runsGoOn()
    },
  },
  'hangs and returns deposed right after the election': {
    disturb: async (cluster, load) => {
      await cluster.hang(0)
      await elected(cluster)
      cluster.resume(0)
      await load.runsGoOn()
    },
  },
  'hangs forever with a short keep-alive': {
    url: '&keepAliveInterval=1000&keepAliveTimeout=1000',
    disturb: async (cluster, load) => {
      await cluster.hang(0)
      await elected(cluster)
      await load.runsGoOn()
    },
  },
  'is killed and restarted': {
    disturb: async (cluster, load) => {
      await leaveUnanswered(cluster.members[0])
      cluster.kill(0)
      await elected(cluster)
      await cluster.start(0)
      await load.runsGoOn()
    },
  },
  resigns: {
    disturb: async (cluster, load) => {
      cluster.resign(0)
      await load.runsGoOn()
    },
  },
}

// Each takes seconds, so the short form takes every other one.
for (const [name, { url = '', disturb }] of Object.entries(changes))
  t.test(`a leader ${name}: runs continue and each is recorded once`, async t => {
    const stored = await openLog(t)
    const cluster = await startEventStoreCluster({ log: stored, electionMs: ELECTION_MS })
    t.teardown(() => cluster.close())
    await disturbService(t, { stored, url: cluster.url + url, disturb: load => disturb(cluster, load) })
  })

t.test('a single server is killed and restarted', async t => {
  const stored = await openLog(t)
  let server = await startEventStoreServer({ log: stored })
  t.teardown(() => server.close())
  const disturb = async (load: Load) => {
    await server.close()
    await delay(ELECTION_MS)
    server = await startEventStoreServer({ log: stored, port: server.port })
    await load.runsGoOn()
  }
  await disturbService(t, { stored, url: server.url, disturb })
})

t.test('after a long outage, clients that got 503 find their runs when they repeat the requests', async t => {
  const stored = await openLog(t)
  let server = await startEventStoreServer({ log: stored })
  t.teardown(() => server.close())
  const disturb = async (load: Load) => {
    server.faults.append = () => 'unanswered'
    await load.join()
    await server.close()
    await load.turnedAway()
    server = await startEventStoreServer({ log: stored, port: server.port })
    await load.runsGoOn()
  }
  const accounts = await disturbService(t, { stored, url: server.url, disturb })
  t.ok(accounts.at(-1)?.found, 'a run answered with 503 was found')
})

/** Makes the server write without answering, and waits until it has. */
const leaveUnanswered = async (server: { faults: Faults } | undefined) => {
  if (server) server.faults.append = () => 'unanswered'
  await delay(UNANSWERED_MS)
}

const elected = async (cluster: EventStoreCluster) => {
  if (!(await holdsSoon(() => cluster.leader !== 0))) throw new Error('no leader was elected')
}

const down = async ({ members }: EventStoreCluster) => {
  if (!(await holdsSoon(() => members[0]?.phase === 'down'))) throw new Error('the deposed leader is still running')
}
