import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type EventStoreOptions, openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { BEFORE_FIRST, type EventLog, NO_STREAM } from '../../../../src/ports/event-log.ts'
import { Unavailable } from '../../../../src/ports/faults.ts'
import { accountId, grantCredits, openAccount } from '../../../support/account-samples.ts'
import { collect } from '../../../support/collect.ts'
import { accountsOn, openLog } from '../../../support/engine.ts'
import { type EventStoreCluster, startEventStoreCluster } from '../../../support/event-store/cluster.ts'
import { consumerTooSlow } from '../../../support/event-store/faults.ts'
import { toCommit } from '../../../support/event-store/log.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'
import { isLong } from '../../../support/test-length.ts'
import { until } from '../../../support/until.ts'

/** Ten times faster than for real servers. */
const LIMITS = { slowAfterMs: 150, appendTimeoutMs: 1000, readTimeoutMs: 1000, leaderTimeoutMs: 2000 }

const open = async (t: Test, { url = '', limits = {} }: { url?: string; limits?: Partial<EventStoreOptions> } = {}) => {
  const stored = await openLog(t)
  const cluster = await startEventStoreCluster({ log: stored, electionMs: 500 })
  t.teardown(() => cluster.close())
  const log = openEventStoreLog({ address: eventStoreAt(cluster.url + url), ...LIMITS, ...limits })
  t.teardown(() => log.close())
  return { stored, cluster, log }
}

/** Grants credits to several accounts, one after another, during a disturbance and for a while after it. */
const grantsDuring = async (log: EventLog, disturb: () => Promise<void>) => {
  const ACCOUNTS = isLong ? 20 : 6
  const accounts = accountsOn(log)
  const granted = new Set<string>()
  const open = new Set<string>()
  const failures: unknown[] = []
  let isOver = false
  let lastGrantMs = 0
  const numbers = Array.from({ length: ACCOUNTS }, (_, index) => index + 1)
  // Before the disturbance, which a slow machine would otherwise let into the openings.
  await Promise.all(
    numbers.map(account =>
      accounts.execute(caller('opening'), accountId(account), openAccount({ account, welcome: 0 })),
    ),
  )
  const life = async (account: number) => {
    for (let number = 0; !isOver; number++) {
      const requestId = `${account}-${number}`
      try {
        await accounts.execute(caller(requestId), accountId(account), grantCredits(1))
        granted.add(requestId)
        lastGrantMs = performance.now()
      } catch (error) {
        if (!(error instanceof Unavailable)) failures.push(error)
        if (/it is unknown whether/.test((error as Error).message)) open.add(requestId)
        await delay(50)
      }
      await delay(5)
    }
  }
  const lives = Promise.all(numbers.map(life))
  await delay(300)
  await disturb()
  await delay(1000)
  const sinceMs = performance.now()
  await until('grants go on', () => lastGrantMs > sinceMs)
  const resumedMs = lastGrantMs
  isOver = true
  await lives
  return { granted, open, failures, resumedMs }
}

/** Acknowledged grants exist exactly once, and refused ones do not. */
const expectExact = async (
  t: Test,
  stored: EventLog,
  { granted, open, failures }: Awaited<ReturnType<typeof grantsDuring>>,
) => {
  const there = (await collect(stored.readAll(BEFORE_FIRST)))
    .filter(({ type }) => type === 'CreditsGranted')
    .map(({ metadata }) => (metadata as { requestId: string }).requestId)
  t.equal(new Set(there).size, there.length, 'nothing takes effect twice')
  t.same(
    [...granted].filter(requestId => !there.includes(requestId)),
    [],
    'confirmed grants exist',
  )
  t.same(
    there.filter(requestId => requestId !== 'opening' && !granted.has(requestId) && !open.has(requestId)),
    [],
    'refused grants do not exist',
  )
  t.same(failures, [], 'every failure is Unavailable')
}

const disturbances: Record<string, (cluster: EventStoreCluster) => Promise<void>> = {
  'hangs forever': async cluster => {
    await cluster.hang(0)
    await delay(1500)
  },
  'hangs, and returns deposed': async cluster => {
    await cluster.hang(0)
    await delay(1500)
    cluster.resume(0)
    await delay(1000)
    await cluster.start(0)
  },
  'hangs, and resumes before another is elected': async cluster => {
    await cluster.hang(0)
    await delay(300)
    cluster.resume(0)
  },
  'is killed and restarted': async cluster => {
    cluster.kill(0)
    await delay(1000)
    await cluster.start(0)
  },
  resigns: async cluster => {
    cluster.resign(0)
  },
  'and its successor are killed, leaving no majority for a while': async cluster => {
    cluster.kill(0)
    cluster.kill(1)
    await delay(1500)
    await cluster.start(1)
    await delay(1500)
  },
}

for (const [name, disturb] of Object.entries(disturbances))
  t.test(`a leader ${name}: writes resume, and each takes effect once`, async t => {
    const { stored, cluster, log } = await open(t)
    const outcome = await grantsDuring(log, () => disturb(cluster))
    await expectExact(t, stored, outcome)
    t.ok(outcome.resumedMs > cluster.electedAtMs, 'there were grants afterwards')
  })

t.test('a short keep-alive does not reconnect to a hung leader', async t => {
  const { stored, cluster, log } = await open(t, { url: '&keepAliveInterval=100&keepAliveTimeout=100' })
  const outcome = await grantsDuring(log, disturbances['hangs forever']?.bind(null, cluster) as never)
  await expectExact(t, stored, outcome)
  t.ok(outcome.resumedMs > cluster.electedAtMs, 'there were grants afterwards')
})

t.test('a cut-off, deposed leader is dropped, and not chosen if the others name another', async t => {
  const stored = await openLog(t)
  const options = { log: stored, electionMs: 200, deposedMs: 60_000, commitTimeoutMs: 200 }
  const cluster = await startEventStoreCluster(options)
  t.teardown(() => cluster.close())
  const opened = (limits: Partial<EventStoreOptions>) => {
    const log = openEventStoreLog({ address: eventStoreAt(cluster.url), ...LIMITS, ...limits })
    t.teardown(() => log.close())
    return log
  }
  const log = opened({ slowAfterMs: 30_000 })
  const outcome = await grantsDuring(log, async () => {
    await cluster.hang(0)
    await delay(400)
    cluster.resume(0)
    await delay(1000)
  })
  await expectExact(t, stored, outcome)
  t.ok(outcome.resumedMs > cluster.electedAtMs + 300, 'there were grants afterwards')
  for (let attempt = 0; attempt < 5; attempt++)
    t.equal(await opened({}).head(), await stored.head().then(toServerPosition))
})

t.test('a follower resumes at the next leader, and sees each event once', async t => {
  const { stored, cluster, log } = await open(t)
  const seen: string[] = []
  let from = BEFORE_FIRST
  const stop = new AbortController()
  const following = (async () => {
    while (!stop.signal.aborted)
      try {
        for await (const page of log.follow(from, stop.signal)) {
          seen.push(...page.map(({ id }) => id))
          from = page.at(-1)?.position ?? from
        }
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        await delay(20)
      }
  })()
  await grantsDuring(log, async () => {
    for (const [place, disturb] of [
      [0, 'hang'],
      [1, 'kill'],
    ] as const) {
      await cluster[disturb](place)
      await delay(1200)
      if (disturb === 'hang') cluster.resume(place)
      await delay(600)
      await cluster.start(place)
    }
  })
  const all = (await collect(stored.readAll(BEFORE_FIRST))).map(({ id }) => id)
  for (let waitedMs = 0; seen.length < all.length && waitedMs < 10_000; waitedMs += 50) await delay(50)
  stop.abort()
  await following
  t.same(seen, all)
})

t.test('a killed single server is found again when it returns', async t => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored })
  const log = openEventStoreLog({ address: eventStoreAt(server.url), ...LIMITS })
  t.teardown(() => log.close())
  let again = server
  t.teardown(() => again.close())
  const outcome = await grantsDuring(log, async () => {
    await server.close()
    await delay(700)
    again = await startEventStoreServer({ log: stored, port: server.port })
  })
  await expectExact(t, stored, outcome)
})

t.test('a server that is too old is refused at once, with its version', async t => {
  for (const [version, message] of [
    ['22.10.5', /is version 22\.10\.5; Tollgate needs 23\.10 or newer/],
    ['21.10.0', /is version 21\.10\.0; Tollgate needs 23\.10 or newer/],
  ] as const) {
    const server = await startEventStoreServer({ log: await openLog(t), version })
    t.teardown(() => server.close())
    const log = openEventStoreLog({ address: eventStoreAt(server.url), leaderTimeoutMs: 60_000 })
    t.teardown(() => log.close())
    await t.rejects(log.head(), { name: 'Unavailable', message }, version)
  }
  const server = await startEventStoreServer({ log: await openLog(t), faults: { hidesFeatures: true } })
  t.teardown(() => server.close())
  const log = openEventStoreLog({ address: eventStoreAt(server.url), leaderTimeoutMs: 60_000 })
  t.teardown(() => log.close())
  await t.rejects(log.head(), { message: /is older than 23\.10/ })
})

t.test('a server with two addresses counts as one', async t => {
  const server = await startEventStoreServer({ log: await openLog(t) })
  t.teardown(() => server.close())
  for (const hosts of [`127.0.0.1:${server.port},localhost:${server.port}`, `localhost:${server.port}`]) {
    const log = openEventStoreLog({ address: eventStoreAt(`esdb://${hosts}?tls=false`), ...LIMITS })
    t.teardown(() => log.close())
    t.equal(await log.head(), BEFORE_FIRST, hosts)
  }
})

t.test('closing a log that looks for a leader reports that nothing was written', async t => {
  const { cluster, log } = await open(t)
  for (const place of [0, 1, 2]) cluster.kill(place)
  const requests = [log.head(), log.append('account-1', [newEvent()], NO_STREAM)].map(request =>
    request.catch(error => error),
  )
  await delay(300)
  await log.close()
  for (const failure of await Promise.all(requests)) t.ok(failure instanceof Unavailable, failure.message)
})

t.test('many slow reads do not make a healthy leader look lost', async t => {
  const server = await startEventStoreServer({ log: await openLog(t) })
  t.teardown(() => server.close())
  const log = openEventStoreLog({ address: eventStoreAt(server.url), ...LIMITS, readTimeoutMs: 10_000 })
  t.teardown(() => log.close())
  await log.append('account-1', [newEvent()], NO_STREAM)
  server.faults.delayMs = 1500
  const reads = Array.from({ length: 240 }, () => collect(log.readStream('account-1', 0)))
  const lengths = (await Promise.all(reads)).map(({ length }) => length)
  t.ok(lengths.every(length => length === 1))
})

t.test('if the only seed is gone, the cluster is found through the members it named', async t => {
  const stored = await openLog(t)
  const cluster = await startEventStoreCluster({ log: stored, electionMs: 300 })
  t.teardown(() => cluster.close())
  const url = `esdb://127.0.0.1:${cluster.members[0]?.port}?tls=false`
  const log = openEventStoreLog({ address: eventStoreAt(url), ...LIMITS })
  t.teardown(() => log.close())
  await log.append('account-1', [newEvent()], NO_STREAM)
  cluster.kill(0)
  await delay(500)
  t.equal((await log.append('account-2', [newEvent()], NO_STREAM)).revision, 0)
})

t.test('a subscription that ends without any progress is a fault, and is not resumed at once', async t => {
  const server = await startEventStoreServer({ log: await openLog(t), version: '23.10.6' })
  t.teardown(() => server.close())
  let subscriptions = 0
  server.faults.subscription = () => {
    subscriptions += 1
    return { refuse: consumerTooSlow() }
  }
  const log = openEventStoreLog({ address: eventStoreAt(server.url), ...LIMITS })
  t.teardown(() => log.close())
  await t.rejects(collect(log.follow(BEFORE_FIRST, AbortSignal.timeout(5000))), Unavailable)
  t.equal(subscriptions, 1)
})

t.test('members missing from the address are found through the seeds', async t => {
  const stored = await openLog(t)
  const cluster = await startEventStoreCluster({ log: stored })
  t.teardown(() => cluster.close())
  const port = cluster.members[2]?.port
  for (const scheme of ['esdb', 'esdb+discover']) {
    const log = openEventStoreLog({ address: eventStoreAt(`${scheme}://localhost:${port}?tls=false`), ...LIMITS })
    t.teardown(() => log.close())
    t.equal(await log.head(), BEFORE_FIRST, scheme)
  }
})

/** Converts a position of the embedded log to one of the server's log. */
const toServerPosition = (position: number) => Number(toCommit(position)) * 2

const newEvent = () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} })

const caller = (requestId: string) => ({ kind: 'operator', name: 'test', requestId }) as const
