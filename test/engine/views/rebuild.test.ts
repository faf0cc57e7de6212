import t, { type Test } from 'tap'
import { compareViews } from '../../../src/engine/views/rebuild.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Batch, ViewStore } from '../../../src/ports/view-store.ts'
import { accountId, digest, keyId, runId } from '../../support/account-samples.ts'
import { dumpText } from '../../support/dump.ts'
import { openLog, openViews, silentLogger } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { projectorOf, rebuild, rebuildOf } from '../../support/views.ts'

const project = async (log: EventLog, views: ViewStore) => {
  const projector = projectorOf(log, views, silentLogger)
  await projector.start()
  await projector.stop()
}

/** A log with correct views. */
const openCorrect = async (t: Test) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await project(log, views)
  return { log, views, correct: await dumpText(views) }
}

/** Changes views behind the projector's back. */
const tamper = async (views: ViewStore, change: Partial<Batch>) => {
  const at = await views.checkpoint()
  if (at) await views.commit({ from: at, to: at, rows: [], entries: [], ...change })
}

const addressesOf = async (log: EventLog, views: ViewStore, scratch: ViewStore) =>
  (await compareViews(rebuildOf(log, views), scratch)).changes.map(({ address }) => address)

const forgery: Partial<Batch> = {
  rows: [
    { view: 'balance', key: accountId(1), row: { balanceMicros: 1_000_000_000 } },
    { view: 'runs', key: `${accountId(1)}/${runId(1002)}`, row: undefined },
    { view: 'keys', key: digest('f'), row: { accountId: accountId(1) } },
  ],
  entries: [
    { view: 'keys', index: 'byAccount', place: `${accountId(2)}/${keyId(2002)}`, key: undefined },
    { view: 'keys', index: 'byAccount', place: `${accountId(9)}/${keyId(2002)}`, key: digest('f') },
  ],
}

const forgedAddresses = [
  `index/keys.byAccount/${accountId(2)}/${keyId(2002)}`,
  `index/keys.byAccount/${accountId(9)}/${keyId(2002)}`,
  `rows/balance/${accountId(1)}`,
  `rows/keys/${digest('f')}`,
  `rows/runs/${accountId(1)}/${runId(1002)}`,
]

t.test('correct views have no differences', async t => {
  const { log, views } = await openCorrect(t)
  t.same(await addressesOf(log, views, await openViews(t)), [])
  t.same(await rebuild(log, views, await openViews(t)), [])
})

t.test('a comparison finds every change and nothing else', async t => {
  const { log, views } = await openCorrect(t)
  await tamper(views, forgery)
  const before = await dumpText(views)
  t.same(await addressesOf(log, views, await openViews(t)), forgedAddresses)
  t.equal(await dumpText(views), before, 'comparing changes nothing')
})

t.test('a rebuild repairs every change', async t => {
  const { log, views, correct } = await openCorrect(t)
  await tamper(views, forgery)
  const changes = await rebuild(log, views, await openViews(t))
  t.same(
    changes.map(({ address }) => address),
    forgedAddresses,
  )
  t.equal(await dumpText(views), correct)
})

t.test('lagging views are compared with the log up to their checkpoint', async t => {
  const { log, views } = await openCorrect(t)
  await writeHistory(log, { first: 20 })
  t.same(await addressesOf(log, views, await openViews(t)), [])
})

t.test('views that advance during a rebuild are still rebuilt', async t => {
  const { log, views } = await openCorrect(t)
  await tamper(views, forgery)
  let attempts = 0
  const moving: ViewStore = {
    ...views,
    replaceCells: async (changes, from, to) => {
      attempts += 1
      if (attempts === 1) {
        await writeHistory(log, { first: 20 })
        await project(log, views)
      }
      await views.replaceCells(changes, from, to)
    },
  }
  await rebuild(log, moving, await openViews(t))
  t.equal(attempts, 2)
  t.same(await addressesOf(log, views, await openViews(t)), [])
})

t.test('an empty log has empty views', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  t.same(await compareViews(rebuildOf(log, views), await openViews(t)), { checkpoint: undefined, changes: [] })
})
