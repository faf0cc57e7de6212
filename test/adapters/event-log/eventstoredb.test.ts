import t, { type Test } from 'tap'
import { events, streamsOf } from '../../../schemas/events.ts'
import { type EventStoreOptions, openEventStoreLog } from '../../../src/adapters/event-log/eventstoredb.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../../src/ports/event-log.ts'
import { eventLogContract } from '../../contract/event-log.ts'
import { collect } from '../../support/collect.ts'
import { openLog } from '../../support/engine.ts'
import { notLeader, notReady, type ReadEnd, timedOut } from '../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../support/event-store/server.ts'
import { eventStoreAt } from '../../support/store-addresses.ts'
import { isLong } from '../../support/test-length.ts'

const openAt = (t: Test, url: string, limits: Partial<EventStoreOptions> = {}) => {
  const address = eventStoreAt(url)
  let log = openEventStoreLog({ address, ...limits })
  t.teardown(() => log.close())
  const reopen = async () => {
    await log.close()
    log = openEventStoreLog({ address, ...limits })
    return log
  }
  return { log, reopen }
}

/** How reads are interrupted, each several times in a row. */
const INTERRUPTIONS: Record<string, (port: number) => ReadEnd['by']> = {
  'the server does not lead any more': port => notLeader('127.0.0.1', port),
  'the connection breaks': () => 'break',
  'the server falls silent': () => 'hang',
  'the server is not ready': notReady,
  'the server gives up': timedOut,
}
const IN_A_ROW = 3

// The servers of both versions differ only in their subscriptions, whose tests use both in the short form too.
for (const version of isLong ? ['24.10.4', '23.10.6'] : ['24.10.4'])
  eventLogContract(
    `a server that behaves like EventStoreDB ${version}`,
    async t => {
      const server = await startEventStoreServer({ log: await openLog(t), version })
      t.teardown(() => server.close())
      const interrupt = (way: string) => {
        let left = IN_A_ROW
        // Two batches, as observed.
        const by = INTERRUPTIONS[way]?.(server.port) ?? 'end'
        const end = () => (left-- > 0 ? { after: 64, by } : undefined)
        Object.assign(server.faults, { read: end, subscription: end })
      }
      return { ...openAt(t, server.url, { slowAfterMs: 200, readTimeoutMs: 400 }), interrupt }
    },
    Object.keys(INTERRUPTIONS),
  )

// A real server, which may hold other data. The suite leaves its streams there.
const realServer = process.env['EVENT_STORE_TEST_URL']
if (realServer) eventLogContract('an EventStoreDB server', async t => openAt(t, realServer))

t.test('an empty log has no head', async t => {
  const server = await startEventStoreServer({ log: await openLog(t) })
  t.teardown(() => server.close())
  const { log } = openAt(t, server.url)
  t.equal(await log.head(), BEFORE_FIRST)
  t.same(await collect(log.readAll(BEFORE_FIRST)), [])
})

t.test('streams of other applications are skipped', async t => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored })
  t.teardown(() => server.close())
  const own = openAt(t, server.url).log
  const theirs = openAt(t, `${server.url}&streamPrefix=other.-`).log
  let number = 0
  const newEvents = (count: number) =>
    Array.from({ length: count }, () => ({
      id: crypto.randomUUID(),
      type: 'SomethingHappened',
      data: { number: ++number },
      metadata: {},
    }))
  const names = Object.entries(streamsOf).map(([category, streams]) => (streams === 'one' ? category : `${category}-1`))
  t.same(
    names.map(name => name.split('-')[0]),
    Object.keys(events),
    'every category that the log may hold',
  )
  for (const stream of ['orders-1', '$$account-1', 'catalogue', 'seals-1', 'my-account-1', 'otherx-account-1'])
    await stored.append(stream, newEvents(300), NO_STREAM)
  for (const log of [own, theirs]) for (const name of names) await log.append(name, newEvents(1), NO_STREAM)
  await stored.append('orders-1', newEvents(300), 299)

  for (const [log, before] of [
    [own, 1800],
    [theirs, 1800 + names.length],
  ] as const) {
    const all = await collect(log.readAll(BEFORE_FIRST))
    t.same(
      all.map(({ stream, data }) => [stream, (data as { number: number }).number]),
      names.map((name, index) => [name, before + index + 1]),
    )
    t.equal(await log.head(), all.at(-1)?.position)
    t.same(await collect(log.readAll(await log.head())), [])
    for await (const page of log.follow(BEFORE_FIRST, AbortSignal.timeout(5000))) {
      t.same(page, all.slice(0, page.length))
      break
    }
  }
})

t.test('existing events are delivered in full pages', async t => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored })
  t.teardown(() => server.close())
  const { log } = openAt(t, server.url)
  const events = (count: number, text = '') =>
    Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'Happened', data: { text }, metadata: {} }))
  await stored.append('account-1', events(2500), NO_STREAM)
  const sizes = async (pages: AsyncIterable<unknown[]>, count: number) => {
    const lengths: number[] = []
    for await (const page of pages) if (lengths.push(page.length) === count) break
    return lengths
  }
  for (const pages of [log.readStream('account-1', 0), log.readAll(BEFORE_FIRST)])
    t.same(await sizes(pages, 4), [1000, 1000, 500])
  t.same(await sizes(log.follow(BEFORE_FIRST, AbortSignal.timeout(5000)), 3), [1000, 1000, 500])
  await stored.append('account-2', events(10, 'x'.repeat(900_000)), NO_STREAM)
  t.same(await sizes(log.readStream('account-2', 0), 3), [5, 5], 'fewer if they are large')
})
