import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { BalanceRow } from '../../../schemas/views.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { type Changes, ViewProgress } from '../../../src/engine/views/view-progress.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY, type Checkpoint, type RowAddress, type ViewStore } from '../../../src/ports/view-store.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { accountId, openAccount } from '../../support/account-samples.ts'
import { accountsOn, openLog, openViews, projections } from '../../support/engine.ts'
import { until } from '../../support/until.ts'
import { projectorOf, readsOf } from '../../support/views.ts'

const caller = { kind: 'service' } as const

/** Reads of complete views with one account. Their progress is that of a process that has just started. */
const open = async (t: Test, wrap = (views: ViewStore) => views) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const accounts = accountsOn(log)
  await accounts.execute(caller, accountId(), openAccount())
  const projector = projectorOf(log, views)
  await projector.start()
  await projector.stop()
  const readsIn = (store: ViewStore) => {
    const progress = new ViewProgress({ log, store, projections, clock: systemClock })
    return { progress, reads: readsOf(store, progress, accounts) }
  }
  return { views, readsIn, ...readsIn(wrap(views)) }
}

/** Asserts whether a view can be read, by its key and by its index. */
const expectReadable = async (t: Test, reads: Reads, view: 'accounts' | 'balance' | 'runs', isReadable = true) => {
  const ways = {
    get: async (): Promise<unknown> => reads.get(view, accountId()),
    list: async (): Promise<unknown> => reads.list(view, BY_KEY, { prefix: '', limit: 1 }),
  }
  for (const [name, read] of Object.entries(ways)) {
    const error = await read().then(
      () => undefined,
      error => error,
    )
    t.equal(error instanceof Unavailable, !isReadable, `${name} of ${view}`)
  }
}

t.test('views of another log are not read until they are replaced', async t => {
  const [own, other] = [await open(t), await open(t)]
  let store = own.views
  const { progress, reads } = own.readsIn({ ...own.views, checkpoint: () => store.checkpoint() })
  await progress.reached()
  await expectReadable(t, reads, 'runs')
  store = other.views
  await t.rejects(progress.reached(), Unavailable)
  for (const view of ['accounts', 'balance', 'runs'] as const) await expectReadable(t, reads, view, false)
  store = own.views
  await progress.reached()
  await expectReadable(t, reads, 'runs')
})

t.test('a row that no service wrote is unavailable, and not missing', async t => {
  const { reads } = await open(t, views => ({
    ...views,
    getMany: async addresses => ({ ...(await views.getMany(addresses)), rows: addresses.map(() => null) }),
  }))
  await t.rejects(async () => reads.get('runs', 'run_1'), Unavailable)
})

t.test('views that were emptied are not read until they are as far as before', async t => {
  const { progress, reads, views } = await open(t)
  const position = (await views.checkpoint())?.position ?? Number.NaN
  progress.advance(position, 'unknown')
  await expectReadable(t, reads, 'balance')
  for (const earlier of [-1, position - 1]) {
    progress.advance(earlier, 'unknown')
    await expectReadable(t, reads, 'balance', false)
  }
  progress.advance(position, 'unknown')
  await expectReadable(t, reads, 'balance')
})

t.test('a progress that is closed ends its waits, and reads the views no more', async t => {
  let checks = 0
  const counting = (views: ViewStore): ViewStore => ({
    ...views,
    checkpoint: () => {
      checks++
      return views.checkpoint()
    },
  })
  const { progress } = await open(t, counting)
  const refused = t.rejects(progress.passed(1000, 60_000), { name: 'Unavailable', message: 'the service is stopping' })
  await until('the views are checked', () => checks > 0)
  await progress.close()
  const checksBefore = checks
  await refused
  await delay(250)
  t.equal(checks, checksBefore)
})

t.test('a view of another version is not read, and the others are', async t => {
  const { views, progress, reads } = await open(t)
  const from = (await views.checkpoint()) as Checkpoint
  const to = { ...from, versions: { ...from.versions, balance: 'balance 99' } }
  await views.commit({ from, to, rows: [], entries: [] })
  await progress.reached()
  await expectReadable(t, reads, 'balance', false)
  await expectReadable(t, reads, 'runs')
})

/** A store with one balance, whose reads take until they are released. */
const openHeld = async (t: Test) => {
  const held: (() => void)[] = []
  let balanceMicros = 1
  const getMany = async <Row>() => {
    const row = { balanceMicros } as Row
    await new Promise<void>(resolve => held.push(resolve))
    return { position: Number.POSITIVE_INFINITY, rows: [row] }
  }
  const { progress, reads } = await open(t, views => ({ ...views, getMany }))
  return {
    progress,
    /** Reads the balance, and calls `meanwhile` before the store answers; `cached` if the store is not asked. */
    read: async (meanwhile = () => {}) => {
      const reading = reads.get('balance', accountId()) as BalanceRow | Promise<BalanceRow>
      if (held.length === 0) return 'cached'
      meanwhile()
      held.pop()?.()
      return (await reading).balanceMicros
    },
    change: (changes: Changes) => {
      balanceMicros += 1
      progress.advance(balanceMicros, changes)
    },
  }
}

const changesBy: Record<string, Changes> = {
  'this process': [{ view: 'balance', key: accountId(), row: {} }],
  'another process': 'unknown',
}

for (const [name, changes] of Object.entries(changesBy)) {
  t.test(`a cached row is read again once ${name} has changed it`, async t => {
    const { read, change } = await openHeld(t)
    t.equal(await read(), 1)
    t.equal(await read(), 'cached')
    change(changes)
    t.equal(await read(), 2)
    t.equal(await read(), 'cached')
  })

  t.test(`a row that ${name} changes while it is read is not cached`, async t => {
    const { read, change } = await openHeld(t)
    t.equal(await read(() => change(changes)), 1)
    t.equal(await read(), 2)
    t.equal(await read(), 'cached')
  })
}

t.test('cached rows are read again after the checkpoint could not be read', async t => {
  const { views, readsIn } = await open(t)
  let answers = true
  let gets = 0
  const { progress, reads } = readsIn({
    ...views,
    getMany: <Row>(rows: RowAddress[]) => {
      gets += 1
      return views.getMany<Row>(rows)
    },
    checkpoint: () => (answers ? views.checkpoint() : Promise.reject(new Unavailable('the views do not answer'))),
  })
  for (const _ of [1, 2]) t.match(await reads.get('balance', accountId()), { balanceMicros: 100_000_000 })
  t.equal(gets, 1)
  answers = false
  await t.rejects(progress.reached(), Unavailable)
  await reads.get('balance', accountId())
  t.equal(gets, 2)
})

t.test('a row that nobody wrote is missing', async t => {
  const { progress, views, reads } = await open(t)
  progress.advance((await views.checkpoint())?.position ?? 0, 'unknown')
  for (const view of ['runs', 'accounts'] as const) t.equal(await reads.get(view, 'nobody'), undefined)
  t.same(await reads.list('runs', BY_KEY, { prefix: 'nobody/', limit: 10 }), [])
})

t.test('rows that were rolled back a moment ago are not read', async t => {
  const { progress, reads, views } = await open(t)
  progress.advance(((await views.checkpoint())?.position ?? 0) + 1, 'unknown')
  await t.rejects(async () => reads.get('balance', accountId()), Unavailable)
  await t.rejects(reads.list('balance', BY_KEY, { prefix: '', limit: 1 }), Unavailable)
})

t.test('views that were emptied a moment ago miss nothing', async t => {
  const { progress, views, reads } = await open(t)
  progress.advance((await views.checkpoint())?.position ?? 0, 'unknown')
  await views.clear()
  for (const view of ['runs', 'accounts'] as const) await expectReadable(t, reads, view, false)
})

t.test('a row is missing, although the views get further while it is looked for', async t => {
  const { views, readsIn } = await open(t)
  const position = (await views.checkpoint())?.position ?? 0
  const openMoving = () => {
    const further = () => progress.advance(position + 1, 'unknown')
    const { progress, reads } = readsIn({
      ...views,
      getMany: <Row>(rows: RowAddress[]) => views.getMany<Row>(rows).finally(further),
      checkpoint: () => views.checkpoint().finally(further),
    })
    progress.advance(position, 'unknown')
    return reads
  }
  t.equal(await openMoving().get('runs', 'nobody'), undefined)
  t.same(await openMoving().list('runs', BY_KEY, { prefix: 'nobody/', limit: 10 }), [])
})

t.test('lists at the same time share one look at the checkpoint, and later ones look again', async t => {
  let looks = 0
  const { progress, reads, views } = await open(t, store => ({
    ...store,
    checkpoint: () => {
      looks += 1
      return store.checkpoint()
    },
  }))
  progress.advance((await views.checkpoint())?.position ?? 0, 'unknown')
  const list = () => reads.list('balance', BY_KEY, { prefix: '', limit: 1 })
  const found = await Promise.all([list(), list(), list()])
  t.equal(looks, 1)
  t.same(
    found.map(({ length }) => length),
    [1, 1, 1],
  )
  await list()
  t.equal(looks, 2)
  const [before, after] = [list(), views.clear().then(list)]
  await before.catch(() => undefined)
  await t.rejects(after, Unavailable, 'a list does not share a look from before it')
})
