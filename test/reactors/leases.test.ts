import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import type { ViewStore } from '../../src/ports/view-store.ts'
import { Leases } from '../../src/reactors/leases.ts'
import { newRunId } from '../../src/services/ids.ts'
import { ambient, openViews } from '../support/engine.ts'
import { until } from '../support/until.ts'

/** A view store that records the keys that are leased and released. */
const recording = (views: ViewStore) => {
  const taken: string[] = []
  const released: string[] = []
  const recorded: ViewStore = {
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
  return { recorded, taken, released }
}

t.test('a short run needs no lease, and stopping releases the others', async t => {
  const { recorded, taken, released } = recording(await openViews(t))
  const leases = new Leases({ views: recorded, ...ambient(systemClock) }, 'run')
  const [quick, queued] = [newRunId(systemRandom), newRunId(systemRandom)]
  leases.hold(quick)
  leases.release(quick)
  t.same(await leases.take([queued]), new Set([queued]))
  await leases.stop()
  t.same(taken, [`run/${queued}`])
  t.same(released, [`run/${queued}`])
})

t.test('a long run is leased until its lease is released', async t => {
  const views = await openViews(t)
  const { recorded, taken } = recording(views)
  const parts = ambient(systemClock)
  const [leases, others] = [new Leases({ ...parts, views: recorded }, 'run'), new Leases({ ...parts, views }, 'run')]
  const long = newRunId(systemRandom)
  leases.hold(long)
  leases.start()
  await until('a lease is taken', () => taken.length)
  t.same(await others.take([long]), new Set())
  await leases.stop()
  t.same(await others.take([long]), new Set([long]), 'after the release')
})
