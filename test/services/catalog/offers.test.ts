import t from 'tap'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { Offers } from '../../../src/services/catalog/offers.ts'
import { publishShipped } from '../../../src/services/catalog/published-catalog.ts'
import { family } from '../../support/catalog-samples.ts'
import { accountsOn, openLog, publishedOn } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

t.test('the last known catalog is on offer while the log is unavailable', async t => {
  const log = await openLog(t)
  let reads = 0
  let answers = true
  const unreliable: EventLog = {
    ...log,
    async *readStream(...query) {
      reads += 1
      if (!answers) throw new Unavailable('the log does not answer')
      yield* log.readStream(...query)
    },
  }
  const clock = new ManualClock()
  await publishShipped(log, publishedOn(log, clock), [family('lumen')], refusal => t.fail(refusal.code))
  const offersOn = () => new Offers(publishedOn(unreliable, clock), accountsOn(unreliable, clock))
  const [offers, fresh] = [offersOn(), offersOn()]
  t.match(await offers.find('lumen', true), { family: { id: 'lumen' }, revision: 0 })

  answers = false
  await new Promise(resolve => setTimeout(resolve, 150))
  reads = 0
  const found = await Promise.all([1, 2, 3].map(() => offers.find('lumen', true)))
  t.match(
    found,
    [1, 2, 3].map(() => ({ family: { id: 'lumen' } })),
  )
  t.equal(reads, 1, 'concurrent requests share one read')
  await t.rejects(fresh.find('lumen', true), Unavailable, 'a process that has not seen the catalog cannot offer it')

  answers = true
  t.match(await fresh.find('lumen', true), { family: { id: 'lumen' } })
})

t.test('a revised family keeps its place and is offered with its last revision', async t => {
  const [log, clock] = [await openLog(t), new ManualClock()]
  await publishShipped(log, publishedOn(log, clock), [family('lumen'), family('umbra')])
  await publishShipped(log, publishedOn(log, clock), [family('lumen', { name: 'Lumen 2' }), family('umbra')])
  const listed = await new Offers(publishedOn(log, clock), accountsOn(log, clock)).list(false)
  t.same(
    listed.map(({ family: { id }, revision }) => [id, revision]),
    [
      ['lumen', 2],
      ['umbra', 1],
    ],
  )
})
