import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { openRedisViewStore } from '../../../src/adapters/view-store/redis.ts'
import { createSnapshots } from '../../../src/engine/streams/snapshots.ts'
import { project as projectPage } from '../../../src/engine/views/project.ts'
import { compareViews } from '../../../src/engine/views/rebuild.ts'
import { BEFORE_FIRST, type EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type Checkpoint, CheckpointMoved, isDamaged, type ViewStore } from '../../../src/ports/view-store.ts'
import { accountSnapshots } from '../../../src/services/accounts/account-mailboxes.ts'
import { eventCodec } from '../../../src/services/event-codec.ts'
import { viewStoreContract } from '../../contract/view-store.ts'
import { accountId } from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { dumpText } from '../../support/dump.ts'
import { authentic, openLog, openViews, projections, silentLogger } from '../../support/engine.ts'
import { refundInHistory, writeHistory } from '../../support/history.ts'
import { needsRedis, startRedis } from '../../support/redis-server.ts'
import { redisAt } from '../../support/store-addresses.ts'
import { until } from '../../support/until.ts'
import { differences, projectorOf, rebuild, rebuildOf } from '../../support/views.ts'

const elsewhere = process.env['REDIS_TEST_URL']

/** A unique key space that is deleted afterwards. */
const freshKeySpace = (t: Test, url: string) => {
  const keySpace = `test-${randomUUID()}`
  t.teardown(async () => {
    const store = await openRedisViewStore({ address: redisAt(url), keySpace, onWarning: () => undefined })
    await store.clear()
    await store.close()
  })
  return keySpace
}

const openStored = async (t: Test, url: string, keySpace = freshKeySpace(t, url)) => {
  const store = await openRedisViewStore({
    address: redisAt(url),
    keySpace,
    onWarning: warning => t.fail(warning.message),
  })
  t.teardown(() => store.close())
  return store
}

const openStore = async (...place: Parameters<typeof openStored>) => authentic(await openStored(...place))

t.test('any server', elsewhere ? {} : needsRedis(), async t => {
  const server = elsewhere ? undefined : await startRedis()
  t.teardown(() => server?.stop())
  const url = elsewhere ?? server?.url ?? ''

  const open = async (t: Test) => {
    const keySpace = freshKeySpace(t, url)
    const store = await openStored(t, url, keySpace)
    const reopen = async () => {
      await store.close()
      return openStored(t, url, keySpace)
    }
    return { store, reopen }
  }
  await viewStoreContract('Redis', open, t)

  t.test('a log gives the same views as in LMDB, cell by cell', async t => {
    const log = await openLog(t)
    await writeHistory(log)
    const [redis, lmdb] = [await openStore(t, url), await openViews(t)]
    await Promise.all([project(log, redis), project(log, lmdb)])
    t.equal(await dumpText(redis), await dumpText(lmdb))
    t.same((await compareViews(rebuildOf(log, redis), await openViews(t))).changes, [])
    t.same((await compareViews(rebuildOf(log, lmdb), await openStore(t, url))).changes, [])

    const at = await redis.checkpoint()
    const rows = ['runs', 'balance'].map(view => ({ view, key: 'acct_nobody', row: { forged: true } }))
    if (at) await redis.commit({ from: at, to: at, rows, entries: [] })
    t.equal((await rebuild(log, redis, await openStore(t, url))).length, 2)
    t.equal(await dumpText(redis), await dumpText(lmdb), 'also after forged cells are replaced')
  })

  t.test('of two concurrent commits, one wins each time', async t => {
    const keySpace = freshKeySpace(t, url)
    const stores = [await openStore(t, url, keySpace), await openStore(t, url, keySpace)]
    const winners: string[] = []
    let from: Checkpoint | undefined
    for (let position = 0; position < 200; position++) {
      const outcomes = await Promise.allSettled(
        stores.map((store, index) => {
          const name = `${position}-${index}`
          const to = { position, eventId: name, origin: 'event-0', versions: { accounts: 'accounts 1' } }
          return store.commit({ from, to, rows: [{ view: 'won', key: name, row: {} }], entries: [] })
        }),
      )
      const lost = outcomes.filter(outcome => outcome.status === 'rejected')
      if (lost.length !== 1 || !(lost[0]?.reason instanceof CheckpointMoved)) t.fail(`at ${position}`)
      from = await stores[0]?.checkpoint()
      const winner = `${position}-${outcomes.findIndex(({ status }) => status === 'fulfilled')}`
      t.equal(from?.eventId, winner)
      winners.push(winner)
    }
    const all = await stores[0]?.list('won', 'key', { prefix: '', limit: 1000 })
    t.same(
      all?.map(({ key }) => key),
      [...winners].sort(),
    )
  })

  t.test('two projectors on one store make the same views as one', async t => {
    const log = await openLog(t)
    const keySpace = freshKeySpace(t, url)
    const stores = [await openStore(t, url, keySpace), await openStore(t, url, keySpace)]
    const projectors = stores.map(store => projectorOf(log, store, silentLogger))
    await Promise.all(projectors.map(projector => projector.start()))
    await writeHistory(log)
    await writeHistory(log, { first: 4 })
    const head = await log.head()
    await Promise.all(projectors.map(projector => projector.progress.passed(head, 20_000)))
    await Promise.all(projectors.map(projector => projector.stop()))
    const lmdb = await openViews(t)
    await project(log, lmdb)
    t.equal(await dumpText(stores[0] as ViewStore), await dumpText(lmdb))
  })

  t.test('concurrent reads and commits are not mistaken for a loss', async t => {
    const keySpace = freshKeySpace(t, url)
    const store = await openStore(t, url, keySpace)
    const to = (position: number) => ({
      position,
      eventId: `event-${position}`,
      origin: 'event-0',
      versions: { accounts: 'accounts 1' },
    })
    for (let position = 1; position <= 300; position++) {
      const rows = [{ view: 'fruit', key: 'apple', row: { position } }]
      const from = position === 1 ? undefined : to(position - 1)
      const committed = store.commit({ from, to: to(position), rows, entries: [] })
      const reads = [0, 1, 2].map(async turns => {
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
        await store.get('fruit', 'apple')
        await store.list('fruit', BY_KEY, { prefix: '', limit: 1 })
      })
      const outcomes = await Promise.allSettled([committed, ...reads])
      const failed = outcomes.find(outcome => outcome.status === 'rejected')
      if (failed) return t.fail(`at ${position}: ${failed.reason}`)
    }
    t.match(await store.get('fruit', 'apple'), { position: 300 })
  })

  t.test('a page is not written over rows that include it already', async t => {
    const log = await openLog(t)
    await writeHistory(log)
    const keySpace = freshKeySpace(t, url)
    const [one, other] = [await openStore(t, url, keySpace), await openStore(t, url, keySpace)]
    const events = (await collect(log.readAll(BEFORE_FIRST))).map(raw => eventCodec.decode(raw))
    await projectPage(one, projections, undefined, events)
    // The other projector has not seen that, and the views are emptied between its reading and its writing.
    const late: ViewStore = { ...other, commit: batch => one.clear().then(() => other.commit(batch)) }
    await t.rejects(projectPage(late, projections, undefined, events), CheckpointMoved)
    t.same((await compareViews(rebuildOf(log, one), await openViews(t))).changes, [])
  })

  t.test('key spaces are separate', async t => {
    const [one, other] = [await openStore(t, url), await openStore(t, url)]
    const to = { position: 1, eventId: 'a', origin: 'event-0', versions: { accounts: 'accounts 1' } }
    const rows = [{ view: 'fruit', key: 'apple', row: { colour: 'red' } }]
    await one.commit({ from: undefined, to, rows, entries: [] })
    await other.commit({ from: undefined, to, rows, entries: [] })
    await one.clear()
    t.equal(await one.get('fruit', 'apple'), undefined)
    t.same(await other.get('fruit', 'apple'), { colour: 'red' })
    t.same(await other.checkpoint(), to)
  })
})

t.test('a private server', needsRedis(), async t => {
  const server = await startRedis()
  t.teardown(() => server.stop())
  const { url, command } = server
  const to = { position: 1, eventId: 'a', origin: 'event-0', versions: { accounts: 'accounts 1' } }
  const nothing = { from: undefined, to, rows: [], entries: [] }

  t.beforeEach(() => command('FLUSHALL'))

  t.test('all keys contain the key space, and are in one slot of a cluster', async t => {
    const store = await openStore(t, url, 'views')
    await store.commit({ ...nothing, rows: [{ view: 'fruit', key: 'apple', row: {} }] })
    await store.lease(['a'], 'one', 0, 100)
    await store.saveSnapshot('one', { body: '{}', mac: '' })
    const { close } = await store.dump()
    const keys = namesIn(await command('KEYS *'))
    t.equal(keys.length, 8)
    t.same(
      keys.filter(key => !key.startsWith('{views}:')),
      [],
    )
    close()
    await store.clear()
    t.equal(await command('DBSIZE'), ':0\r\n')
  })

  t.test('an expired lease leaves nothing behind', async t => {
    const store = await openStore(t, url)
    await store.lease(['a', 'b'], 'one', 0, 15_000)
    await store.lease(['c'], 'other', 100_000, 115_000)
    const keys = namesIn(await command('KEYS *')).sort()
    const [ends, holders] = keys
    t.equal(keys.length, 2)
    t.equal(await command(`ZCARD ${ends}`), ':1\r\n')
    t.equal(await command(`HLEN ${holders}`), ':1\r\n')
  })

  t.test('an abandoned dump leaves nothing behind', async t => {
    const store = await openStore(t, url)
    await store.dump()
    const held = namesIn(await command('KEYS *:dump:*'))
    t.equal(held.length, 2)
    for (const key of held) t.match(await command(`PTTL ${key}`), /^:[1-9]/)
    await command(`DEL ${held.join(' ')}`)
    await store.commit(nothing)
    t.equal(namesIn(await command('KEYS *:dump*')).length, 0)
  })

  t.test('a dump that has lost its snapshot fails', async t => {
    const store = await openStore(t, url)
    await store.commit(nothing)
    const { cells, close } = await store.dump()
    await command('FLUSHALL')
    await t.rejects(cells[Symbol.asyncIterator]().next(), Unavailable)
    close()
  })

  t.test('scripts are sent again to a server that has forgotten them', async t => {
    const store = await openStore(t, url)
    await store.commit(nothing)
    await command('SCRIPT FLUSH')
    await store.commit({ ...nothing, from: to, to: { ...to, eventId: 'b' } })
    t.equal((await store.checkpoint())?.eventId, 'b')
  })

  t.test('views that are lost at runtime are rebuilt at the next event', async t => {
    const [log, redis, lmdb] = [await openLog(t), await openStore(t, url), await openViews(t)]
    await writeHistory(log)
    const projector = projectorOf(log, redis, silentLogger)
    await projector.start()
    await command('FLUSHALL')
    t.equal(await redis.checkpoint(), undefined)
    await writeHistory(log, { first: 4 })
    await projector.progress.passed(await log.head(), 20_000)
    await projector.stop()
    await project(log, lmdb)
    t.equal(await dumpText(redis), await dumpText(lmdb))
  })

  t.test('no event counts twice after the checkpoint was set back at runtime', async t => {
    const [log, store] = [await openLog(t), await openStore(t, url, 'views')]
    const projector = projectorOf(log, store)
    t.teardown(() => projector.stop())
    await writeHistory(log)
    await projector.start()
    const earlier = JSON.stringify(await store.checkpoint())
    await refundInHistory(log)
    await projector.progress.passed(await log.head(), 5000)
    await command(`HSET {views}:cells checkpoint '${earlier}'`)
    await writeHistory(log, { first: 7 })
    await projector.progress.passed(await log.head(), 5000)
    t.same(await differences(t, log, store), [])
  })

  t.test(
    'views are rebuilt that lost or gained cells, or whose checkpoint is damaged, while a projector runs',
    async t => {
      const [log, store] = [await openLog(t), await openStore(t, url, 'views')]
      const warnings: string[] = []
      const keep = (_: object, text: string) => void warnings.push(text)
      const projector = projectorOf(log, store, { ...silentLogger, warn: keep, error: keep })
      t.teardown(() => projector.stop())
      await writeHistory(log)
      await projector.start()
      const { position, eventId } = (await store.checkpoint()) as Checkpoint
      const before = await dumpText(store)
      for (const damage of [
        `HDEL {views}:cells rows/accounts/${accountId(1)}`,
        `ZREM {views}:order rows/accounts/${accountId(1)}`,
        `EVAL "redis.call('HDEL', KEYS[1], ARGV[1]) return redis.call('ZREM', KEYS[2], ARGV[1])" 2 ${[
          ...['{views}:cells', '{views}:order', `rows/accounts/${accountId(1)}`],
        ].join(' ')}`,
        'HSET {views}:cells position 0',
        'DEL {views}:order',
        'DEL {views}:cells',
        'HDEL {views}:cells checkpoint',
        'HSET {views}:cells checkpoint notjson',
        `HSET {views}:cells checkpoint '${JSON.stringify({ position, eventId, origin: 'other', versions: {} })}'`,
      ]) {
        await command(damage)
        // A dump does not show a foreign field, so the checkpoint must be whole too. A rebuild interrupts dumps.
        const isAsBefore = async () => !isDamaged(await store.checkpoint()) && (await dumpText(store)) === before
        await until(`views as before ${damage}`, () => warnings.length > 0 && isAsBefore().catch(() => false))
        t.same(warnings.splice(0), ['the views do not fit the log; rebuilding them'], damage)
      }
    },
  )

  t.test('views with an unreadable checkpoint are rebuilt at the next start', async t => {
    const [log, store, lmdb] = [await openLog(t), await openStore(t, url, 'views'), await openViews(t)]
    await writeHistory(log)
    await Promise.all([project(log, store), project(log, lmdb)])
    // As in EventStoreDB, nothing can be read from before the start of the log.
    const strict: EventLog = {
      ...log,
      readAll: after => {
        if (after < BEFORE_FIRST) throw new RangeError(`there is no position ${after}`)
        return log.readAll(after)
      },
    }
    for (const checkpoint of ['notjson', '{}', 'null', '', '{"position":9,"versions":null}', '{"position":-9}']) {
      await command(`HSET {views}:cells checkpoint '${checkpoint}'`)
      await project(strict, store)
      t.equal(await dumpText(store), await dumpText(lmdb), checkpoint)
    }
  })

  t.test('a snapshot that is none is ignored and reported', async t => {
    const store = await openStore(t, url, 'views')
    const forged: string[] = []
    const onForged = (stream: string) => void forged.push(stream)
    const snapshots = createSnapshots({ store, form: accountSnapshots, key: Buffer.alloc(32), onForged })
    for (const text of ['notjson', 'null', '7', '{}', '{"body":7,"mac":7}', '']) {
      await command(`HSET {views}:snapshots account-1 '${text}'`)
      t.equal(await snapshots.load('account-1'), undefined, text)
      t.same(forged.splice(0), ['account-1'], text)
    }
  })

  t.test('a server that may evict data causes a warning', async t => {
    const warningsUnder = async (policy: string) => {
      await command(`CONFIG SET maxmemory-policy ${policy}`)
      const warnings: string[] = []
      const store = await openRedisViewStore({
        address: redisAt(url),
        onWarning: ({ message }) => warnings.push(message),
      })
      await store.close()
      return warnings
    }
    t.match(await warningsUnder('allkeys-lru'), [/allkeys-lru.*noeviction/])
    t.same(await warningsUnder('noeviction'), [])
  })
})

const project = async (log: Awaited<ReturnType<typeof openLog>>, views: ViewStore) => {
  const projector = projectorOf(log, views, silentLogger)
  await projector.start()
  await projector.stop()
}

/** In a list reply of Redis, a line with its length precedes each name. */
const namesIn = (answer: string): string[] => answer.split('\r\n').filter(line => line !== '' && !/^[*$]/.test(line))
