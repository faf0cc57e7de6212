import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { NO_STREAM } from '../../../../src/ports/event-log.ts'
import { openLog } from '../../../support/engine.ts'
import { notLeader } from '../../../support/event-store/faults.ts'
import { toCommit } from '../../../support/event-store/log.ts'
import { inWords, openRawClient, readOf } from '../../../support/event-store/raw-client.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { until } from '../../../support/until.ts'

// How the stand-in answers reads, which differs between versions of the real server.

const open = async (t: Test, version?: string) => {
  const log = await openLog(t)
  const server = await startEventStoreServer({ log, ...(version && { version }) })
  t.teardown(() => server.close())
  return { log, server, client: openRawClient(t, server) }
}

const NONE = `${2n ** 64n - 1n}`
const NEW_AT_START = ['confirmed', `checkpoint ${NONE}/${NONE}`, 'caught up']

t.test('without matches, 24.10.4 sends a checkpoint without a position, and 23.10.6 sends none', async t => {
  for (const [version, begins] of [
    ['24.10.4', NEW_AT_START],
    ['23.10.6', ['confirmed', 'caught up']],
    ['22.10.5', ['confirmed']],
  ] as const) {
    const { log, client } = await open(t, version)
    await log.append('orders-1', newEvents(3), NO_STREAM)
    const { items } = client.read(readOf.live('account-'))
    await until('the read begins', () => items.length >= begins.length)
    await log.append('account-1', newEvents(1), NO_STREAM)
    await until('another item arrives', () => items.length > begins.length)
    t.same(inWords(items), [...begins, 'account-1/0'], version)
  }
})

t.test('24.10.4 sends the position of the last match when it goes live', async t => {
  const { log, client } = await open(t)
  await log.append('account-1', newEvents(2), NO_STREAM)
  await log.append('orders-1', newEvents(3), NO_STREAM)
  const { items } = client.read(readOf.live('account-'))
  await until('the read begins', () => items.length >= 5)
  const position = toCommit(await firstPosition(log))
  const next = toCommit((await firstPosition(log)) + 1)
  t.ok(position < next)
  t.same(inWords(items), ['confirmed', 'account-1/0', 'account-1/1', `checkpoint ${next}/${next}`, 'caught up'])
})

t.test('23.10.6 ends a live subscription at more than 32 events at once; 24.10.4 reads them again', async t => {
  for (const [version, seen, cut] of [
    ['23.10.6', 32, true],
    ['24.10.4', 33, false],
  ] as const) {
    const { log, client } = await open(t, version)
    await log.append('account-1', newEvents(100), NO_STREAM)
    const { items, ended } = client.read(readOf.live('account-'))
    const events = () => inWords(items).filter(word => word.startsWith('account-')).length
    await until('the read has caught up', () => inWords(items).includes('caught up'))
    await log.append('account-1', newEvents(32), 99)
    await until('all events arrive', () => events() === 132)
    await log.append('account-1', newEvents(33), 131)
    await until('all events arrive', () => events() === 132 + seen)
    if (cut)
      t.match(await ended, {
        code: 10,
        details: 'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
      })
    else {
      await until(
        'the read has caught up again',
        () => inWords(items).filter(word => word === 'caught up').length === 2,
      )
      t.notOk(await Promise.race([ended, delay(50)]), 'it continues')
    }
    t.equal(events(), 132 + seen, version)
  }
})

t.test('each kind of read can end with not-leader after a number of events', async t => {
  const { log, client, server } = await open(t)
  await log.append('account-1', newEvents(100), NO_STREAM)
  const fate = { after: 64, by: notLeader('127.0.0.1', 2113) }
  for (const kind of ['stream', 'all', 'subscription']) {
    server.faults.read = request => (request.kind === kind ? fate : undefined)
    server.faults.subscription = (_, request) => (request.kind === kind ? fate : undefined)
    for (const [request, options] of Object.entries({
      stream: readOf.stream('account-1'),
      all: readOf.all(),
      subscription: readOf.live('account-'),
    })) {
      const { items, ended } = client.read(options)
      if (request === kind) {
        const failure = await ended
        t.match(failure, { code: 5, details: 'Leader info available' })
        t.equal(failure?.metadata.get('leader-endpoint-port')[0], '2113')
        t.equal(items.filter(item => item.hasEvent()).length, 64, kind)
      } else await until('100 events arrive', () => items.filter(item => item.hasEvent()).length === 100)
    }
  }
})

t.test('a server can report or hide its version', async t => {
  for (const version of ['24.10.4', '22.10.5']) t.equal(await (await open(t, version)).client.version(), version)
  const { client, server } = await open(t)
  server.faults.hidesFeatures = true
  await t.rejects(client.version(), { code: 12 })
})

t.test('during silence no byte arrives, on new connections either', async t => {
  const { log, server } = await open(t)
  await log.append('account-1', newEvents(1), NO_STREAM)
  const old = openRawClient(t, server)
  t.same(await old.gossip(), ['LEADER'])
  server.silence(true)
  const fresh = openRawClient(t, server)
  await t.rejects(old.gossip(), { code: 4 })
  await t.rejects(fresh.gossip(), { code: 4 })
  const reads = [old, fresh].map(client => client.read(readOf.stream('account-1')))
  await delay(100)
  t.same(
    reads.flatMap(({ items }) => items),
    [],
  )
  server.silence(false)
  t.same(await Promise.all(reads.map(({ ended }) => ended)), [undefined, undefined])
  t.same(
    reads.map(({ items }) => inWords(items)),
    [['account-1/0'], ['account-1/0']],
  )
})

const firstPosition = async (log: Awaited<ReturnType<typeof openLog>>) => {
  for await (const [event] of log.readAll(-1)) if (event) return event.position
  throw new Error('the log is empty')
}

const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }))
