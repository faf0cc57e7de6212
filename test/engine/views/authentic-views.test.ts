import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { BalanceRow, RunRow } from '../../../schemas/views.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { openRedisViewStore } from '../../../src/adapters/view-store/redis.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { BY_KEY, type StoredViews } from '../../../src/ports/view-store.ts'
import { NewestFirst } from '../../../src/services/views/newest-first.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { accountId, grantCredits, runId } from '../../support/account-samples.ts'
import { forgeCells } from '../../support/dump.ts'
import { accountsOn, authentic, openLog, openStoredViews, openViews } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { needsRedis, startRedis } from '../../support/redis-server.ts'
import { redisAt } from '../../support/store-addresses.ts'
import { differences, projectorOf, rebuild } from '../../support/views.ts'

const openRedisViews = async (t: Test): Promise<StoredViews> => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const parts = { address: redisAt(redis.url), keySpace: randomUUID() }
  const views = await openRedisViewStore({ ...parts, onWarning: warning => t.fail(warning.message) })
  t.teardown(() => views.close())
  return views
}

/** Cells that are no rows. */
const values = ['null', '0', '"x"', '[]', '{}', 'notjson', '', '{"grantedMicros":1,"mac":"0123456789012345678901"}']

for (const [name, open, options] of [
  ['LMDB', openStoredViews, {}],
  ['Redis', openRedisViews, needsRedis()],
] as const)
  t.test(`cells in ${name} that are no rows are absent, reported and rebuilt`, options, async t => {
    const [log, store] = [await openLog(t), await open(t)]
    const forged = new Set<string>()
    const views = authentic(store, ({ view, key }) => void forged.add(`${view}/${key}`))
    await writeHistory(log, { accounts: values.length })
    const projector = projectorOf(log, views)
    t.teardown(() => projector.stop())
    await projector.start()
    const keys = values.map((_, index) => accountId(index + 1))
    const reported = keys.map(key => `balance/${key}`)
    const forge = () =>
      forgeCells(
        store,
        values.map((value, index) => ({ address: `rows/balance/${keys[index]}`, value })),
      )
    const reads = {
      get: () => Promise.all(keys.map(key => views.get('balance', key))),
      getMany: async () => (await views.getMany(keys.map(key => ({ view: 'balance', key })))).rows,
    }

    await forge()
    for (const [read, rows] of Object.entries(reads)) {
      forged.clear()
      t.same(await rows(), Array(keys.length).fill(read === 'get' ? undefined : null), read)
      t.same([...forged], reported, read)
    }
    forged.clear()
    t.same(await views.list('balance', BY_KEY, { prefix: '', limit: 100 }), [])
    t.same([...forged], reported)

    for (const key of keys) await accountsOn(log).execute({ kind: 'service' }, key, grantCredits(1))
    await projector.progress.passed(await log.head(), 5000)
    t.same(await reads.get(), Array(keys.length).fill(undefined), 'no event is folded into them')
    await rebuild(log, views, await openViews(t))
    forged.clear()
    for (const row of (await reads.get()) as BalanceRow[]) t.match(row, { grantedMicros: toMicros(101.5) })
    t.same([...forged], [])
    t.same(await differences(t, log, views), [])
  })

t.test('a forged row does not end a list early', async t => {
  const store = await openStoredViews(t)
  const views = authentic(store)
  const keys = Array.from({ length: 130 }, (_, index) => `${accountId()}/${runId(index)}`)
  const to = { position: 1, eventId: 'a', origin: 'a', versions: {} }
  await views.commit({ from: undefined, to, rows: keys.map(key => ({ view: 'runs', key, row: {} })), entries: [] })
  await forgeCells(store, [{ address: `rows/runs/${keys[80]}`, value: '{"status":"completed"}' }])

  const reads = { ownWrites: () => undefined, list: views.list } as unknown as Reads
  const matches = (_: RunRow) => true
  const list = new NewestFirst({ reads, clock: systemClock })
  const newest = await list.page('runs', accountId(), { limit: 100, matches })
  t.equal(newest.found.length, 100)
  const rest = await list.page('runs', accountId(), { limit: 100, matches, cursor: newest.next ?? undefined })
  t.same([rest.found.length, rest.next], [29, null])
})

t.test('index entries without a row do not shorten a page', async t => {
  const [log, store] = [await openLog(t), await openStoredViews(t)]
  const views = authentic(store)
  await writeHistory(log)
  const projector = projectorOf(log, views)
  await projector.start()
  await projector.stop()
  const list = (limit: number, newestFirst: boolean) => views.list('due', 'byQueue', { prefix: '', limit, newestFirst })
  const orders = [false, true] as const
  const before = await Promise.all(orders.map(newestFirst => list(5, newestFirst)))
  const places = ['a', 'b', 'start/', 'watch/z', 'z'].map(prefix => prefix + randomUUID())
  await forgeCells(
    store,
    places.map(place => ({ address: `index/due.byQueue/${place}`, value: 'nothing' })),
  )
  t.same(await Promise.all(orders.map(newestFirst => list(5, newestFirst))), before)
})
