import { Subject } from 'rxjs'
import t from 'tap'
import type { Changes } from '../../../src/engine/views/progress.ts'
import { Projector } from '../../../src/engine/views/projector.ts'
import { Reads } from '../../../src/engine/views/reads.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { ViewStore } from '../../../src/ports/view-store.ts'
import { Accounts } from '../../../src/services/accounts/accounts.ts'
import { Catalog } from '../../../src/services/catalog/catalog.ts'
import { publishShipped } from '../../../src/services/catalog/catalog-editor.ts'
import { family } from '../../support/catalog-samples.ts'
import { noSnapshots, openLog, openViews, silentLogger } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

t.test('what was on offer last is on offer while the views do not answer', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  let answers = true
  const shaky: ViewStore = {
    ...views,
    list: (...query) => (answers ? views.list(...query) : Promise.reject(new Unavailable('the views do not answer'))),
  }
  const clock = new ManualClock()
  await publishShipped(log, clock, [family('lumen')], error => t.fail(error.message))
  const projector = new Projector(log, shaky, silentLogger)
  t.teardown(() => projector.stop())
  await projector.start()
  const reads = new Reads(shaky, projector, new Accounts(log, noSnapshots, clock))
  const changes = new Subject<Changes>()
  const [catalog, fresh] = [new Catalog(reads, changes), new Catalog(reads, changes)]
  t.match(await catalog.find('lumen', true), { family: { id: 'lumen' } })

  answers = false
  changes.next('unknown')
  // All who ask at once share one look, and one answer.
  const found = await Promise.all([1, 2, 3].map(() => catalog.find('lumen', true)))
  t.match(
    found,
    [1, 2, 3].map(() => ({ family: { id: 'lumen' } })),
  )
  await t.rejects(fresh.find('lumen', true), Unavailable, 'of which nothing is known here')

  answers = true
  t.match(await fresh.find('lumen', true), { family: { id: 'lumen' } })
})
