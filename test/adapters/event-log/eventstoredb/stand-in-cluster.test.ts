import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { BEFORE_FIRST, NO_STREAM } from '../../../../src/ports/event-log.ts'
import { collect } from '../../../support/collect.ts'
import { openLog } from '../../../support/engine.ts'
import { type ClusterOptions, startEventStoreCluster } from '../../../support/event-store/cluster.ts'
import { inWords, openRawClient, readOf } from '../../../support/event-store/raw-client.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { until } from '../../../support/until.ts'

// How the stand-in's cluster behaves when a member is stopped, resumed or killed.

const ELECTION_MS = 300

const open = async (t: Test, options: Partial<ClusterOptions> = {}) => {
  const log = await openLog(t)
  const cluster = await startEventStoreCluster({ log, electionMs: ELECTION_MS, ...options })
  t.teardown(() => cluster.close())
  const clients = cluster.members.map(member => openRawClient(t, member))
  const client = (place: number) => clients[place] as (typeof clients)[number]
  const streams = async () => (await collect(log.readAll(BEFORE_FIRST))).map(({ stream }) => stream)
  return { log, cluster, client, streams }
}

t.test('each member lists all members, and only the leader accepts requests that require it', async t => {
  const { cluster, client, streams } = await open(t)
  for (const place of [0, 1, 2]) t.same(await client(place).gossip(), ['LEADER', 'FOLLOWER', 'FOLLOWER'])
  const { append, ended } = client(1).batch()
  append('account-1')
  const failure = await ended
  t.match(failure, { code: 5 })
  t.equal(failure?.metadata.get('leader-endpoint-port')[0], String(cluster.members[0]?.port))
  for (const options of [readOf.stream('account-1'), readOf.all()])
    t.match(await client(1).read(options).ended, { code: 5 })
  const live = client(1).read(readOf.live('account-'))
  t.match(await live.ended, { code: 5 })
  t.same(inWords(live.items), ['confirmed'], 'which a live subscription notices when it reads')

  const modest = openRawClient(t, cluster.members[1] as { port: number }, { requiresLeader: false })
  const forwarded = modest.batch()
  forwarded.append('account-2')
  await until('1 answers arrive', () => forwarded.answers.length === 1)
  t.same(await streams(), ['account-2'], 'requests that do not require it are accepted')
  t.equal(await modest.read(readOf.stream('account-2')).ended, undefined)

  const vendors = EventStoreDBClient.connectionString(cluster.url)
  t.teardown(() => vendors.dispose())
  await vendors.appendToStream('account-3', jsonEvent({ type: 'SomethingHappened', data: {} }))
  t.same(await streams(), ['account-2', 'account-3'])
})

t.test('a hung leader is named until the election ends, and its pending appends are never written', async t => {
  const { cluster, client, streams } = await open(t)
  const [leader] = cluster.members
  const { append, answers, ended } = client(0).batch()
  append('account-1')
  await until('1 answers arrive', () => answers.length === 1)
  Object.assign(leader?.faults ?? {}, { append: () => ({ afterMs: 100 }) })
  append('account-2')
  await delay(50)
  await cluster.hang(0)
  append('account-3')
  const connected = connect(leader?.port ?? 0, '127.0.0.1')
  t.teardown(() => connected.destroy())
  await once(connected, 'connect')
  const hungAtMs = performance.now()
  for (const place of [1, 2]) t.same(await client(place).gossip(), ['LEADER', 'FOLLOWER', 'FOLLOWER'])
  t.match(await client(1).read(readOf.all()).ended, { code: 5 }, 'it is still named')
  await until('another member leads', () => cluster.leader !== 0)
  t.ok(cluster.electedAtMs - hungAtMs > ELECTION_MS - 50)
  t.same(await client(2).gossip(), ['dead', 'LEADER', 'FOLLOWER'])
  await t.rejects(openRawClient(t, leader as { port: number }).gossip(), { code: 4 })
  t.equal(await Promise.race([ended, delay(50, 'open')]), 'open', 'its connections stay')
  t.equal(answers.length, 1)
  const after = client(1).batch()
  after.append('account-4')
  await until('1 answers arrive', () => after.answers.length === 1)
  await delay(200)
  t.same(await streams(), ['account-1', 'account-4'])
})

t.test('a deposed leader runs for a while, commits nothing, and exits', async t => {
  const { cluster, client, streams, log } = await open(t, { commitTimeoutMs: 50, deposedMs: 3000, leavingMs: 1000 })
  await log.append('account-1', newEvents(100), NO_STREAM)
  const before = client(0).batch()
  before.append('account-1', { revision: 99 })
  await until('1 answers arrive', () => before.answers.length === 1)
  await cluster.hang(0)
  before.append('account-1', { revision: 100 })
  await until('another member leads', () => cluster.leader !== 0)
  const after = client(1).batch()
  after.append('account-2')
  await until('1 answers arrive', () => after.answers.length === 1)

  cluster.resume(0)
  t.same(await client(0).gossip(), ['LEADER', 'FOLLOWER', 'FOLLOWER'], 'its own view')
  t.same((await client(2).gossip()).slice(1), ['LEADER', 'FOLLOWER'])
  before.append('account-3')
  await until('3 answers arrive', () => before.answers.length === 3)
  t.same(
    before.answers.slice(1).map(answer => answer.getError()?.getMessage()),
    ['Timeout', 'Timeout'],
  )
  const all = client(0).read(readOf.all())
  t.equal(await all.ended, undefined)
  t.equal(all.items.length, 101, 'it lacks later events')
  const live = client(0).read(readOf.live('account-'))
  await until('the read has caught up', () => inWords(live.items).includes('caught up'))
  await until('the leader leaves', () => cluster.members[0]?.phase === 'leaving')
  t.match(await client(0).read(readOf.all()).ended, { code: 5 })
  before.append('account-4')
  t.match(await before.ended, { code: 5 })
  t.match(await live.ended, { code: 14 }, 'until it exits')
  t.equal(cluster.members[0]?.phase, 'down')
  await t.rejects(once(connect(cluster.members[0]?.port ?? 0, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  t.equal(live.items.filter(item => item.hasEvent()).length, 101)

  await cluster.start(0)
  const again = openRawClient(t, cluster.members[0] as { port: number }, { requiresLeader: false })
  t.same(await again.gossip(), ['FOLLOWER', 'LEADER', 'FOLLOWER'])
  const read = again.read(readOf.all())
  t.equal(await read.ended, undefined)
  t.equal(read.items.length, 102)
  t.same((await streams()).slice(100), ['account-1', 'account-2'])
})

t.test('a running read ends with not-leader when a deposed leader learns of the new one', async t => {
  const { cluster, client, log } = await open(t, { leavingMs: 5_000 })
  const large = Array.from({ length: 300 }, () => ({ ...newEvents(1)[0], data: { text: 'x'.repeat(100_000) } }))
  for (const [index, event] of large.entries())
    await log.append('account-1', [{ ...event, id: crypto.randomUUID(), type: 'Happened', metadata: {} }], index - 1)
  await cluster.hang(0)
  await until('another member leads', () => cluster.leader !== 0)
  const { call, items, ended } = client(0).read(readOf.stream('account-1'))
  // A paused reader keeps the read running, however slow the machine is.
  call.once('data', () => call.pause())
  cluster.resume(0)
  await until('the deposed leader learns of the new one', () => cluster.members[0]?.phase === 'leaving')
  call.resume()
  t.match(await ended, { code: 5, details: 'Leader info available' })
  t.ok(items.length > 0 && items.length < 300)
  t.equal(items.length % 32, 0, 'in whole batches')
})

t.test('a member that hangs only briefly continues as before', async t => {
  const { cluster, client, streams } = await open(t)
  for (const place of [0, 2]) {
    const { append, answers } = client(0).batch()
    append('account-1')
    await until('1 answers arrive', () => answers.length === 1)
    // One append is pending when it hangs, and one arrives while it hangs.
    Object.assign(cluster.members[0]?.faults ?? {}, { append: () => ({ afterMs: 60 }) })
    append('account-2')
    await delay(30)
    await cluster.hang(place)
    append('account-2')
    await delay(100)
    cluster.resume(place)
    await until('3 answers arrive', () => answers.length === 3)
    t.ok(answers.every(answer => answer.hasSuccess()))
  }
  await delay(ELECTION_MS + 50)
  t.equal(cluster.leader, 0)
  t.same(await client(1).gossip(), ['LEADER', 'FOLLOWER', 'FOLLOWER'])
  t.equal((await streams()).length, 6)
})

t.test('a killed leader is replaced, and returns as a follower', async t => {
  const { cluster, client, streams } = await open(t)
  const { append, answers, ended } = client(0).batch()
  append('account-1')
  await until('1 answers arrive', () => answers.length === 1)
  cluster.kill(0)
  t.match(await ended, { code: 14 })
  await t.rejects(client(0).gossip(), { code: 14 })
  t.same(await client(1).gossip(), ['dead', 'UNKNOWN', 'UNKNOWN'])
  t.match(await client(1).read(readOf.all()).ended, { code: 14, details: 'Server Is Not Ready' })
  await until('another member leads', () => cluster.leader === 1)
  await cluster.start(0)
  t.same(await client(2).gossip(), ['FOLLOWER', 'LEADER', 'FOLLOWER'])
  t.match(await openRawClient(t, cluster.members[0] as { port: number }).read(readOf.all()).ended, { code: 5 })
  const after = client(1).batch()
  after.append('account-2')
  await until('1 answers arrive', () => after.answers.length === 1)
  t.same(await streams(), ['account-1', 'account-2'])
})

t.test('without a majority there is no leader, and nothing is committed', async t => {
  const { cluster, client, streams } = await open(t, { commitTimeoutMs: 50 })
  cluster.kill(1)
  cluster.kill(2)
  const { append, answers } = client(0).batch()
  append('account-1')
  await until('1 answers arrive', () => answers.length === 1)
  t.equal(answers[0]?.getError()?.getMessage(), 'Timeout')
  cluster.kill(0)
  await cluster.start(1)
  await delay(2 * ELECTION_MS)
  t.equal(cluster.leader, 0)
  await cluster.start(2)
  await until('another member leads', () => cluster.leader !== 0)
  t.same(await streams(), [])
})

t.test('a leader that resigns refuses at once', async t => {
  const { cluster, client, streams } = await open(t)
  const { append, answers, ended } = client(0).batch()
  append('account-1')
  await until('1 answers arrive', () => answers.length === 1)
  cluster.resign(0)
  append('account-2')
  t.match(await ended, { code: 5 })
  const after = client(cluster.leader).batch()
  after.append('account-3')
  await until('1 answers arrive', () => after.answers.length === 1)
  t.same(await streams(), ['account-1', 'account-3'])
})

t.test('a single server returns on its port with all its events', async t => {
  const log = await openLog(t)
  const first = await startEventStoreServer({ log })
  const client = openRawClient(t, first)
  const { append, answers, ended } = client.batch()
  append('account-1')
  await until('1 answers arrive', () => answers.length === 1)
  await first.close()
  t.match(await ended, { code: 14 })
  const second = await startEventStoreServer({ log, port: first.port })
  t.teardown(() => second.close())
  const read = openRawClient(t, second).read(readOf.stream('account-1'))
  t.equal(await read.ended, undefined)
  t.equal(read.items.length, 1)
})

const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }))
