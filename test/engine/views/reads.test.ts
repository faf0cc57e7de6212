import t, { type Test } from 'tap'
import { runKey } from '../../../projections/runs.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { BY_KEY } from '../../../src/ports/view-store.ts'
import { accountId, runId } from '../../support/account-samples.ts'
import { accountsOn, openLog, openViews } from '../../support/engine.ts'
import { writeHistory } from '../../support/history.ts'
import { projectorOf, readsOf } from '../../support/views.ts'

/** Reads of views that have seen a whole log, and that nothing keeps up to date any more. */
const openReads = async (t: Test) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  await writeHistory(log)
  const projector = projectorOf(log, views)
  await projector.start()
  await projector.stop()
  return { views, reads: readsOf(views, projector.progress, accountsOn(log)) }
}

const written = runKey(accountId(1), runId(1))

t.test('rows are read, and a row that nobody wrote is missing', async t => {
  const { views, reads } = await openReads(t)
  const [first] = await views.list<{ runId: string }>('runs', BY_KEY, { prefix: `${accountId(1)}/`, limit: 1 })
  t.match(await reads.get('runs', first?.key ?? ''), { runId: first?.row.runId })
  t.equal(await reads.get('runs', runKey(accountId(1), runId(9999))), undefined)
  t.equal(await reads.get('accounts', accountId(9999)), undefined)
  t.same(await reads.list('runs', BY_KEY, { prefix: `${accountId(9999)}/`, limit: 10 }), [])
})

t.test('views that were emptied a moment ago miss nothing', async t => {
  const { views, reads } = await openReads(t)
  await views.clear()
  await t.rejects(Promise.resolve(reads.get('runs', written)), Unavailable)
  await t.rejects(Promise.resolve(reads.get('accounts', accountId(1))), Unavailable)
  await t.rejects(reads.list('runs', BY_KEY, { prefix: `${accountId(1)}/`, limit: 10 }), Unavailable)
})
