import t, { type Test } from 'tap'
import { Projector } from '../../../src/engine/views/projector.ts'
import { compareViews, rebuildViews } from '../../../src/engine/views/rebuild.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Batch, ViewStore } from '../../../src/ports/view-store.ts'
import { accountId, digest, keyId, runId } from '../../support/account-samples.ts'
import { dumpText } from '../../support/dump.ts'
import { openLog, openViews, silentLogger } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'

const project = async (log: EventLog, views: ViewStore) => {
  const projector = new Projector(log, views, silentLogger)
  await projector.start()
  await projector.stop()
}

/** A log with its views, as they are when all is well. */
const openSound = async (t: Test) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  await project(log, views)
  return { log, views, sound: await dumpText(views) }
}

/** Changes views behind the projector's back. */
const tamper = async (views: ViewStore, change: Partial<Batch>) => {
  const at = await views.checkpoint()
  if (at) await views.commit({ from: at, to: at, rows: [], entries: [], ...change })
}

const addressesOf = async (log: EventLog, views: ViewStore, scratch: ViewStore) =>
  (await compareViews(log, views, scratch)).changes.map(({ address }) => address)

const fraud: Partial<Batch> = {
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

const touched = [
  `index/keys.byAccount/${accountId(2)}/${keyId(2002)}`,
  `index/keys.byAccount/${accountId(9)}/${keyId(2002)}`,
  `rows/balance/${accountId(1)}`,
  `rows/keys/${digest('f')}`,
  `rows/runs/${accountId(1)}/${runId(1002)}`,
]

t.test('sound views differ in nothing', async t => {
  const { log, views } = await openSound(t)
  t.same(await addressesOf(log, views, await openViews(t)), [])
  t.same(await rebuildViews(log, views, await openViews(t)), [])
})

t.test('whatever was changed is found, and nothing else', async t => {
  const { log, views } = await openSound(t)
  await tamper(views, fraud)
  const before = await dumpText(views)
  t.same(await addressesOf(log, views, await openViews(t)), touched)
  t.equal(await dumpText(views), before, 'looking changes nothing')
})

t.test('what was changed is put right', async t => {
  const { log, views, sound } = await openSound(t)
  await tamper(views, fraud)
  const changes = await rebuildViews(log, views, await openViews(t))
  t.same(
    changes.map(({ address }) => address),
    touched,
  )
  t.equal(await dumpText(views), sound)
})

t.test('views that lag are compared with the log as far as they reach', async t => {
  const { log, views } = await openSound(t)
  await writeHistory(log, { first: 20 })
  t.same(await addressesOf(log, views, await openViews(t)), [])
})

t.test('views that go on during a repair are repaired all the same', async t => {
  const { log, views } = await openSound(t)
  await tamper(views, fraud)
  let attempts = 0
  const moving: ViewStore = {
    ...views,
    repair: async (changes, at) => {
      attempts += 1
      if (attempts === 1) {
        await writeHistory(log, { first: 20 })
        await project(log, views)
      }
      await views.repair(changes, at)
    },
  }
  await rebuildViews(log, moving, await openViews(t))
  t.equal(attempts, 2)
  t.same(await addressesOf(log, views, await openViews(t)), [])
})

t.test('a rebuild throws the snapshots away', async t => {
  const { log, views } = await openSound(t)
  await views.saveSnapshot('one', { version: 1, revision: 0, hash: '', state: {} })
  await rebuildViews(log, views, await openViews(t))
  t.equal(await views.loadSnapshot('one'), undefined)
})

t.test('an empty log has empty views', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  t.same(await compareViews(log, views, await openViews(t)), { checkpoint: undefined, changes: [] })
})
