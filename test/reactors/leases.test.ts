import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { ViewStore } from '../../src/ports/view-store.ts'
import { Leases } from '../../src/reactors/leases.ts'
import { newRunId } from '../../src/services/ids.ts'
import { openViews, silentLogger } from '../support/engine.ts'

/** Notes what is taken and given back, beside doing it. */
const noting = (views: ViewStore) => {
  const taken: string[] = []
  const released: string[] = []
  const noted: ViewStore = {
    ...views,
    lease: (keys, ...rest) => {
      taken.push(...keys)
      return views.lease(keys, ...rest)
    },
    release: (keys, ...rest) => {
      released.push(...keys)
      return views.release(keys, ...rest)
    },
  }
  return { noted, taken, released }
}

t.test('a run that ends before it needs a lease costs no write, and others give theirs back', async t => {
  const { noted, taken, released } = noting(await openViews(t))
  const leases = new Leases({ views: noted, clock: systemClock, logger: silentLogger }, 'run')
  const [quick, queued] = [newRunId(), newRunId()]
  leases.hold(quick)
  leases.release(quick)
  t.same(await leases.take([queued]), new Set([queued]))
  await leases.stop()
  t.same(taken, [`run/${queued}`])
  t.same(released, [`run/${queued}`])
})

t.test('a run that goes on for longer is leased, and nobody else has it meanwhile', async t => {
  const views = await openViews(t)
  const { noted, taken } = noting(views)
  const parts = { clock: systemClock, logger: silentLogger }
  const [leases, others] = [new Leases({ ...parts, views: noted }, 'run'), new Leases({ ...parts, views }, 'run')]
  const long = newRunId()
  leases.hold(long)
  leases.start()
  while (taken.length === 0) await new Promise(resolve => setTimeout(resolve, 50))
  t.same(await others.take([long]), new Set())
  await leases.stop()
  t.same(await others.take([long]), new Set([long]), 'until it is given back')
})
