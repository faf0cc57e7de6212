import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import t, { type Test } from 'tap'
import { PERIODS_STREAM, READS_STREAM, SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed, SealKeyAdopted } from '../../../schemas/seal-events.ts'
import { openEventStoreLog } from '../../../src/adapters/event-log/eventstoredb.ts'
import { rootOf } from '../../../src/domain/seals/log-tree.ts'
import type { StreamLeaf } from '../../../src/domain/seals/stream-tree.ts'
import { canonicalJson } from '../../../src/engine/log/hash-chain.ts'
import { BEFORE_FIRST, type EventLog, NO_STREAM } from '../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import type { ViewStore } from '../../../src/ports/view-store.ts'
import { parseSealKey, type SealKey } from '../../../src/services/seals/seal-key.ts'
import { SealStream, WrongSealKey } from '../../../src/services/seals/seal-stream.ts'
import { Sealer } from '../../../src/services/seals/sealer.ts'
import { TreeStore } from '../../../src/services/seals/tree-store.ts'
import { collect } from '../../support/collect.ts'
import { ambient, openLog, openViews } from '../../support/engine.ts'
import { startEventStoreServer } from '../../support/event-store/server.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { linksRoot, streamsRoot } from '../../support/merkle.ts'
import { eventStoreAt } from '../../support/store-addresses.ts'

const MAX_EVENTS = 10
const MAX_AGE_MS = 600_000
const MAX_READS = 50

const newKey = (isDevelopment = false): SealKey =>
  parseSealKey(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), {
    isDevelopment,
  })

const key = newKey()

/** A sealer that has read the log as far as it goes, as a process that starts does. */
const start = async (
  log: EventLog,
  views: ViewStore,
  options: { key?: SealKey; previousKey?: SealKey; maxEvents?: number } = {},
) => {
  const parts = ambient(clock)
  const seals = new SealStream({ log, ...parts })
  const limits = { maxEvents: MAX_EVENTS, maxAgeMs: MAX_AGE_MS, maxReads: MAX_READS }
  const sealer = new Sealer({
    log,
    seals,
    trees: new TreeStore({ views, clock }),
    key,
    ...parts,
    ...limits,
    ...options,
  })
  const read = async () => {
    for await (const page of log.readAll(await sealer.restart())) sealer.take(page)
  }
  await read()
  return { sealer, read }
}

const clock = new ManualClock()

const open = async (t: Test) => ({ log: await openLog(t), views: await openViews(t) })

/** Appends events that nobody reads but the sealer, which needs their links alone. */
const append = async (log: EventLog, stream: string, count: number, type = 'SomethingHappened') => {
  const before = (await collect(log.readStream(stream, 0))).length
  const at = new Date(clock.nowMs()).toISOString()
  const events = Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    type,
    data: {},
    metadata: { at, hash: `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll('-', '') },
  }))
  await log.append(stream, events, before === 0 ? NO_STREAM : before - 1)
}

const sealsIn = async (log: EventLog): Promise<LogSealed[]> =>
  (await collect(log.readStream(SEALS_STREAM, 0)))
    .filter(({ type }) => type === 'LogSealed')
    .map(({ data }) => data as LogSealed)

const linkOf = ({ metadata }: RawEvent): string => (metadata as { hash: string }).hash

/** Checks each seal against the log: what it covers, its place among the seals, and its signature. */
const checkSeals = async (t: Test, log: EventLog): Promise<LogSealed[]> => {
  const events = await collect(log.readAll(BEFORE_FIRST))
  const covered = events.filter(({ stream }) => stream !== SEALS_STREAM)
  const own = events.filter(({ stream }) => stream === SEALS_STREAM)
  const seals = await sealsIn(log)
  for (const { signature, ...seal } of seals) {
    const byStream = new Map<string, string[]>()
    for (const event of covered.slice(0, seal.events))
      byStream.set(event.stream, [...(byStream.get(event.stream) ?? []), linkOf(event)])
    const streams = [...byStream].map(([stream, links]) => ({
      ...{ stream, revision: links.length - 1, head: links.at(-1) as string },
      links: linksRoot(links),
    }))
    t.equal(seal.root, streamsRoot(streams))
    t.equal(seal.streams, streams.length)
    t.equal(seal.position, covered[seal.events - 1]?.position)
    t.equal(seal.earlier, linksRoot(own.slice(0, seal.number).map(linkOf)))
    t.equal(seal.previous, own[seal.number - 1] && linkOf(own[seal.number - 1] as RawEvent))
    const publicKey = createPublicKey({ key: key.publicKey, format: 'jwk' })
    t.ok(verify(null, Buffer.from(canonicalJson(seal)), publicKey, Buffer.from(signature, 'base64url')))
  }
  return seals
}

t.test('the log is sealed after so many events, and each seal covers all streams', async t => {
  const { log, views } = await open(t)
  for (let round = 0; round < 12; round++) {
    await append(log, `a-${round % 5}`, 1 + (round % 4))
    await append(log, `b-${round}`, 1)
    const { sealer } = await start(log, views)
    await sealer.sealWhatIsDue()
  }
  const seals = await checkSeals(t, log)
  t.same(
    seals.map(({ events }) => events),
    [10, 20, 30, 40],
  )
  t.equal(seals.at(-1)?.number, 4, 'the first event is the adoption of the key')
})

t.test('fewer events are sealed after a while, and none twice', async t => {
  const { log, views } = await open(t)
  const { sealer, read } = await start(log, views)
  await sealer.sealWhatIsDue()
  await append(log, 'a', 3)
  await read()
  await sealer.sealWhatIsDue()
  t.same(await sealsIn(log), [])
  clock.advance(MAX_AGE_MS)
  await sealer.sealWhatIsDue()
  await sealer.sealWhatIsDue()
  await read()
  clock.advance(MAX_AGE_MS)
  await sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 3, streams: 1 }])
})

t.test('the log is sealed at once where an operator waits to close a month', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 3)
  await append(log, PERIODS_STREAM, 1, 'PeriodCloseRequested')
  await append(log, 'b', 1)
  const { sealer } = await start(log, views)
  await sealer.sealWhatIsDue()
  await append(log, PERIODS_STREAM, 1, 'PeriodClosed')
  await append(log, 'a', 1, 'PeriodCloseRequested')
  const later = await start(log, views)
  await later.sealer.sealWhatIsDue()
  const seals = await checkSeals(t, log)
  t.same(
    seals.map(({ events }) => events),
    [5],
    'nothing else is sealed at once',
  )
})

t.test('a request to close a month that is read again after a restart causes one seal', async t => {
  const { log, views } = await open(t)
  await append(log, PERIODS_STREAM, 1, 'PeriodCloseRequested')
  const { sealer, read } = await start(log, views)
  await read()
  await sealer.sealWhatIsDue()
  await sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 1 }])
})

t.test('what auditors read causes no seal, whenever it was, and the next seal covers it', async t => {
  const { log, views } = await open(t)
  const { sealer, read } = await start(log, views)
  await append(log, READS_STREAM, 3 * MAX_EVENTS)
  await read()
  clock.advance(MAX_AGE_MS)
  await sealer.sealWhatIsDue()
  t.same(await sealsIn(log), [])

  await append(log, 'a', 1)
  await read()
  await sealer.sealWhatIsDue()
  t.same(await sealsIn(log), [], 'the age counts from the other event')
  clock.advance(MAX_AGE_MS)
  await sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 3 * MAX_EVENTS + 1, streams: 2 }])
})

t.test('what auditors read does not count among the events after which the log is sealed', async t => {
  const { log, views } = await open(t)
  const { sealer, read } = await start(log, views)
  for (let round = 0; round < 2 * MAX_EVENTS; round++) {
    await append(log, READS_STREAM, 2)
    await append(log, 'a', 1)
    if (round === MAX_EVENTS - 2) {
      await read()
      await sealer.sealWhatIsDue()
      t.same(await sealsIn(log), [])
    }
  }
  await read()
  await sealer.sealWhatIsDue()
  const other = await start(log, views)
  await other.sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 3 * MAX_EVENTS }, { events: 6 * MAX_EVENTS }])
})

t.test('very many reads of auditors are sealed without any other event', async t => {
  const { log, views } = await open(t)
  const { sealer, read } = await start(log, views)
  for (const count of [MAX_READS - 1, 1, MAX_READS - 1]) {
    await append(log, READS_STREAM, count)
    await read()
    await sealer.sealWhatIsDue()
    clock.advance(MAX_AGE_MS)
    await sealer.sealWhatIsDue()
  }
  t.match(await checkSeals(t, log), [{ events: MAX_READS, streams: 1 }])
  t.equal((await sealsIn(log)).length, 1)
})

t.test('a process that starts seals what is old', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 3)
  clock.advance(MAX_AGE_MS)
  const { sealer } = await start(log, views)
  await sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 3 }])
})

t.test('of two processes that seal at once, one succeeds', async t => {
  const { log, views } = await open(t)
  const processes = [await start(log, views), await start(log, views), await start(log, views)]
  for (let round = 0; round < 6; round++) {
    await append(log, `a-${round % 4}`, 8)
    for (const { read } of processes) await read()
    await Promise.all(processes.map(({ sealer }) => sealer.sealWhatIsDue()))
  }
  const seals = await checkSeals(t, log)
  t.same(
    seals.map(({ events }) => events),
    [10, 20, 30, 40],
  )
  const keys = (await collect(log.readStream(SEALS_STREAM, 0))).filter(({ type }) => type === 'SealKeyAdopted')
  t.equal(keys.length, 1)
})

t.test('a seal that comes while the stream of seals is read takes its events from the next one', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', MAX_EVENTS + 5)
  const { sealer: other } = await start(log, views)
  const late: { take?: (events: RawEvent[]) => void } = {}
  const readLate: EventLog = {
    ...log,
    readStream: async function* (stream, from) {
      yield* log.readStream(stream, from)
      const take = late.take
      delete late.take
      if (!take) return
      await other.sealWhatIsDue()
      yield* log.readStream(stream, from)
      take(await collect(log.readStream(stream, from)))
    },
  }
  const { sealer } = await start(readLate, views)
  late.take = events => sealer.take(events)
  await sealer.sealWhatIsDue()
  clock.advance(MAX_AGE_MS)
  await sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: MAX_EVENTS }, { events: MAX_EVENTS + 5 }])
})

t.test('many events of many streams are sealed together, and every node of the tree is stored', async t => {
  const { log, views } = await open(t)
  const streams = Array.from({ length: 150 }, (_, index) => `a-${index}`)
  const { sealer, read } = await start(log, views, { maxEvents: 10_000 })
  for (let round = 0; round < 2; round++) {
    for (const stream of streams) await append(log, stream, 2)
    await append(log, 'busy', 1200)
    await read()
    clock.advance(MAX_AGE_MS)
    await sealer.sealWhatIsDue()
    const root = (await sealsIn(log)).at(-1)?.root as string
    t.ok(await new TreeStore({ views, clock }).paths(root, streams))
  }
  t.match(await checkSeals(t, log), [
    { events: 1500, streams: 151 },
    { events: 3000, streams: 151 },
  ])
})

t.test('on EventStoreDB, a process goes on after the seal of another', async t => {
  const server = await startEventStoreServer({ log: await openLog(t) })
  t.teardown(() => server.close())
  const log = openEventStoreLog({ address: eventStoreAt(server.url) })
  t.teardown(() => log.close())
  const views = await openViews(t)
  await append(log, 'account-a', 10)
  const [one, other] = [await start(log, views), await start(log, views)]
  const read = await log.head()
  await one.sealer.sealWhatIsDue()
  await append(log, 'account-a', 10)
  for await (const page of log.readAll(read)) other.sealer.take(page)
  await other.sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 10 }, { events: 20 }])
})

t.test('a tree that was lost is made again from the log', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 10)
  await append(log, 'b', 5)
  const first = await start(log, views)
  await first.sealer.sealWhatIsDue()
  await views.clear()
  await append(log, 'b', 5)
  await append(log, 'c', 5)
  const second = await start(log, views)
  await second.sealer.sealWhatIsDue()
  t.equal((await checkSeals(t, log)).length, 2)
})

t.test('a process that has made the last tree notices that it was lost', async t => {
  const { log, views } = await open(t)
  const streams = Array.from({ length: 20 }, (_, index) => `a-${index}`)
  for (const stream of streams) await append(log, stream, 1)
  const { sealer } = await start(log, views)
  await sealer.sealWhatIsDue()
  await views.clear()
  const position = await log.head()
  await append(log, 'a-19', 10)
  for await (const page of log.readAll(position)) sealer.take(page)
  await sealer.sealWhatIsDue()
  const [newest] = (await checkSeals(t, log)).slice(-1) as [LogSealed]
  const pages = await new TreeStore({ views, clock }).paths(newest.root, streams)
  t.ok(pages.size > 1, 'also the pages of streams without new events are stored')
})

t.test('a forged page counts as lost', async t => {
  const leavesIn = (text: string) => JSON.parse(text) as StreamLeaf[]
  const forgeries: Record<string, (text: string) => string> = {
    'a missing leaf': text => JSON.stringify(leavesIn(text).slice(1)),
    'another link': text => JSON.stringify(leavesIn(text).map(leaf => ({ ...leaf, head: '00'.repeat(32) }))),
    'fewer hashes with the same root': text =>
      JSON.stringify(leavesIn(text).map(leaf => ({ ...leaf, links: { ...leaf.links, hashes: [rootOf(leaf.links)] } }))),
    'no leaf': () => '[]',
    'no array of leaves': () => '[{"stream":7}]',
    'empty branches': () => Buffer.alloc(512).toString('base64url'),
    'branches of an earlier version': () => Buffer.alloc(960, 1).toString('base64url'),
    'too few branches': () => 'AAAA',
    'other JSON': () => '{"kind":"leaf","stream":"a","head":"00","links":{"size":9,"hashes":[]}}',
  }
  for (const [what, forge] of Object.entries(forgeries)) {
    const { log, views } = await open(t)
    await append(log, 'a', 7)
    await append(log, 'b', 3)
    const first = await start(log, views)
    await first.sealer.sealWhatIsDue()
    const [{ root }] = (await sealsIn(log)) as [LogSealed]
    const [text] = (await views.loadNodes([`.${root}`])) as [string]
    await views.saveNodes([[`.${root}`, forge(text)]])
    await append(log, 'a', 10)
    const second = await start(log, views)
    await second.sealer.sealWhatIsDue()
    t.equal((await checkSeals(t, log)).length, 2, what)
  }
})

t.test('the pages of the last two trees are stored and no others, whichever process made them', async t => {
  const { log, views } = await open(t)
  const stored = new Set(['ab.0'.padEnd(67, '0'), 'a page of an earlier version'])
  const watched: ViewStore = {
    ...views,
    saveNodes: async changes => {
      for (const [key, text] of changes)
        if (text === undefined) stored.delete(key)
        else stored.add(key)
      await views.saveNodes(changes)
    },
    clearNodes: async () => {
      stored.clear()
      await views.clearNodes()
    },
  }
  const pagesOf = async (root: string) =>
    (
      await new TreeStore({ views, clock }).paths(
        root,
        Array.from({ length: 30 }, (_, index) => `a-${index}`),
      )
    ).keys()
  for (let round = 0; round < 8; round++) {
    for (let stream = 0; stream < 4 + round * 3; stream += 1 + (round % 3)) await append(log, `a-${stream}`, 1)
    await append(log, 'busy', MAX_EVENTS)
    if (round === 1) await views.clear()
    clock.advance(MAX_AGE_MS)
    const { sealer } = await start(log, watched, { maxEvents: 1000 })
    await sealer.sealWhatIsDue()
    if (round === 0) continue
    const [last, newest] = (await sealsIn(log)).slice(-2) as [LogSealed, LogSealed]
    const expected = new Set([...(await pagesOf(last.root)), ...(await pagesOf(newest.root))])
    t.same([...stored].filter(key => !key.startsWith('replaced.')).sort(), [...expected].sort())
    t.same(
      [...stored].filter(key => key.startsWith('replaced.')),
      [`replaced.${newest.root}.0`],
    )
  }
  await checkSeals(t, log)
})

t.test('a list of outdated pages that no service wrote deletes nothing that cannot be made again', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 10)
  for (const text of ['no list', '["x", 7]', (root: string) => `[".${root}", "${'f'.repeat(3000)}"]`]) {
    const { sealer } = await start(log, views)
    await sealer.sealWhatIsDue()
    const { root } = (await sealsIn(log)).at(-1) as LogSealed
    await views.saveNodes([[`replaced.${root}.0`, typeof text === 'string' ? text : text(root)]])
    await append(log, 'a', 10)
  }
  const { sealer } = await start(log, views)
  await sealer.sealWhatIsDue()
  t.equal((await checkSeals(t, log)).length, 4)
})

t.test('a seal that could not be recorded is made again', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 10)
  const down: EventLog = { ...log, append: () => Promise.reject(new Unavailable('down')) }
  const first = await start(down, views)
  await t.rejects(first.sealer.sealWhatIsDue(), Unavailable)
  const second = await start(log, views)
  await second.sealer.sealWhatIsDue()
  t.match(await checkSeals(t, log), [{ events: 10 }])
})

t.test('in a copy of the log, where positions differ, the covered events are counted', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 10)
  await append(log, 'b', 3)
  const first = await start(log, views)
  await first.sealer.sealWhatIsDue()
  await append(log, 'a', 10)
  const later = 1000
  async function* moved(after: number) {
    for await (const page of log.readAll(Math.max(BEFORE_FIRST, after - later)))
      yield page.map(event => ({ ...event, position: event.position + later }))
  }
  const { sealer, read } = await start({ ...log, readAll: moved }, views)
  await t.rejects(sealer.sealWhatIsDue(), Unavailable)
  await read()
  await sealer.sealWhatIsDue()
  t.match(await sealsIn(log), [{ events: 10 }, { events: 20, streams: 2 }])
})

t.test('a log that lost what its last seal covers is not sealed', async t => {
  const { log, views } = await open(t)
  await append(log, 'a', 6)
  await append(log, 'b', 6)
  const first = await start(log, views)
  await first.sealer.sealWhatIsDue()
  await append(log, 'a', 10)
  async function* cut(after: number) {
    for await (const page of log.readAll(after)) yield page.filter(({ stream }) => stream !== 'b')
  }
  await views.clear()
  const { sealer, read } = await start({ ...log, readAll: cut }, views)
  await t.rejects(sealer.sealWhatIsDue(), Damaged)
  await read()
  await t.rejects(sealer.sealWhatIsDue(), Damaged)
  t.equal((await sealsIn(log)).length, 1)
})

t.test('a new key is adopted only with a signature of the key before it', async t => {
  const { log, views } = await open(t)
  const oldKey = newKey(true)
  await append(log, 'a', 10)
  const first = await start(log, views, { key: oldKey })
  await first.sealer.sealWhatIsDue()
  const sealedAt = await log.head()
  await append(log, 'a', 10)
  await t.rejects(start(log, views), {
    name: WrongSealKey.name,
    message: new RegExp(`^the log is sealed with the key ${oldKey.keyId}, and this process has ${key.keyId}: restore`),
  })
  await t.rejects(start(log, views, { previousKey: newKey() }), WrongSealKey)
  t.equal((await sealsIn(log)).length, 1)
  const right = await start(log, views, { previousKey: oldKey })
  await right.sealer.sealWhatIsDue()
  const adoptions = (await collect(log.readStream(SEALS_STREAM, 0))).filter(({ type }) => type === 'SealKeyAdopted')
  t.match(adoptions, [{ data: { keyId: oldKey.keyId, development: true } }, { data: { keyId: key.keyId } }])
  const { signature, ...adopted } = (adoptions[1] as RawEvent).data as SealKeyAdopted
  const oldPublicKey = createPublicKey({ key: oldKey.publicKey, format: 'jwk' })
  t.ok(verify(null, Buffer.from(canonicalJson(adopted)), oldPublicKey, Buffer.from(signature, 'base64url')))
  t.match(await sealsIn(log), [{ keyId: oldKey.keyId }, { keyId: key.keyId }])
  // The process with the old key started before the change.
  await append(log, 'a', 10)
  for await (const page of log.readAll(sealedAt)) first.sealer.take(page)
  await t.rejects(first.sealer.sealWhatIsDue(), WrongSealKey)
})
