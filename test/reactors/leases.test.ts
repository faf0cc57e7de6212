import t from 'tap'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import type { ViewStore } from '../../src/ports/view-store.ts'
import { Leases } from '../../src/reactors/leases.ts'
import { newRunId } from '../../src/services/ids.ts'
import { Chance } from '../simulation/world/chance.ts'
import { Timeline } from '../simulation/world/timeline.ts'
import { SimulatedViews } from '../simulation/world/view-store.ts'
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
  leases.holdLease(quick)
  leases.releaseLease(quick)
  t.same(await leases.takeLeases([queued]), new Set([queued]))
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
  leases.holdLease(long)
  leases.start()
  await until('a lease is taken', () => taken.length)
  t.same(await others.takeLeases([long]), new Set())
  await leases.stop()
  t.same(await others.takeLeases([long]), new Set([long]), 'after the release')
})

/** One process's leases in simulated time, on views that answer slowly, and a rival whose views answer at once. */
const simulate = () => {
  const timeline = new Timeline(new Chance(1))
  const clock: Clock = {
    nowMs: () => timeline.nowMs,
    monotonicMs: () => timeline.nowMs,
    timer: (delayMs, callback) => {
      const timer = { cancel: timeline.after(delayMs, callback), unref: () => timer }
      return timer
    },
  }
  const store = new SimulatedViews()
  const outage = { isOn: false }
  const lease: ViewStore['lease'] = async (...request) => {
    await timeline.pass(100)
    if (outage.isOn) throw new Unavailable('the views do not answer')
    return store.lease(...request)
  }
  const pass = async (ms: number) => {
    const endMs = timeline.nowMs + ms
    timeline.after(ms, () => undefined)
    while (timeline.nowMs < endMs) await timeline.step()
  }
  const parts = ambient(clock)
  const leases = new Leases({ ...parts, views: { ...store, lease } }, 'run')
  return { leases, rival: new Leases({ ...parts, views: store }, 'run'), outage, pass }
}

t.test('a lease is renewed before it expires', async t => {
  const { leases, rival, pass } = simulate()
  const long = newRunId(systemRandom)
  leases.holdLease(long)
  leases.start()
  await pass(2_000)
  for (let second = 0; second < 60; second++) {
    t.same(await rival.takeLeases([long]), new Set())
    await pass(1_000)
  }
})

t.test('a renewal that failed is repeated before the lease expires', async t => {
  const { leases, rival, outage, pass } = simulate()
  const long = newRunId(systemRandom)
  leases.holdLease(long)
  leases.start()
  await pass(2_000)
  outage.isOn = true
  await pass(12_000)
  outage.isOn = false
  for (let times = 0; times < 100; times++) {
    t.same(await rival.takeLeases([long]), new Set())
    await pass(50)
  }
})

t.test('work that is released and taken again at once stays leased', async t => {
  const { leases, rival, pass } = simulate()
  const run = newRunId(systemRandom)
  leases.start()
  for (const _ of ['first', 'again']) {
    leases.releaseLease(run)
    const taking = leases.takeLeases([run])
    await pass(110)
    t.same(await taking, new Set([run]))
  }
  await pass(1_000)
  t.same(await rival.takeLeases([run]), new Set())
})

t.test('a stop needs no views', async t => {
  const views = await openViews(t)
  const release = () => Promise.reject(new Unavailable('the views do not answer'))
  const leases = new Leases({ views: { ...views, release }, ...ambient(systemClock) }, 'run')
  await leases.takeLeases([newRunId(systemRandom)])
  await leases.stop()
  t.pass()
})
