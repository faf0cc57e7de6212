import t from 'tap'
import type { Clock } from '../../../src/ports/clock.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { ProviderReports } from '../../../src/reactors/runs/provider-reports.ts'
import type { NamedBreaker } from '../../../src/services/providers/circuit-breakers.ts'
import { readReports } from '../../../src/services/providers/provider-reports.ts'
import { Chance } from '../../simulation/world/chance.ts'
import { Timeline } from '../../simulation/world/timeline.ts'
import { SimulatedViews } from '../../simulation/world/view-store.ts'
import { ambient } from '../../support/engine.ts'

/** The wall clock is that much ahead of the monotonic one. */
const EPOCH_MS = Date.parse('2026-11-24T00:00:00.000Z')

/** One process in simulated time, with the provider `fal`. */
const simulate = (providers = ['fal']) => {
  const timeline = new Timeline(new Chance(1))
  const clock: Clock = {
    nowMs: () => EPOCH_MS + timeline.nowMs,
    monotonicMs: () => timeline.nowMs,
    timer: (delayMs, callback) => {
      const timer = { cancel: timeline.after(delayMs, callback), unref: () => timer }
      return timer
    },
  }
  const store = new SimulatedViews()
  const state = { calls: 0, openBreakers: [] as NamedBreaker[], isAway: false, writes: 0 }
  const views = {
    report: async (...report: Parameters<SimulatedViews['report']>) => {
      state.writes += 1
      if (state.isAway) throw new Unavailable('the views do not answer')
      await store.report(...report)
    },
  }
  const reports = new ProviderReports({
    ...{ providers, maxCalls: 8, views, ...ambient(clock) },
    breakers: { openBreakers: () => state.openBreakers },
    permits: { countCalls: () => state.calls },
  })
  const pass = async (ms: number) => {
    const endMs = timeline.nowMs + ms
    timeline.after(ms, () => undefined)
    while (timeline.nowMs < endMs) await timeline.step()
  }
  const read = async () => (await readReports(store, clock.nowMs())).get('fal')
  return { reports, state, pass, read }
}

t.test('a report is written when something has changed', async t => {
  const { reports, state, pass, read } = simulate()
  reports.start()
  await pass(1)
  t.same(await read(), { processes: 1, calls: 0, maxCalls: 8, openBreakers: [] })
  await pass(5_000)
  t.equal(state.writes, 1)
  state.calls = 3
  state.openBreakers = [{ provider: 'fal', account: 'a', model: 'b/c', kind: 'overloaded', untilMs: 20_000 }]
  await pass(2_000)
  const until = new Date(EPOCH_MS + 20_000).toISOString()
  t.same(await read(), {
    ...{ processes: 1, calls: 3, maxCalls: 8 },
    openBreakers: [{ provider: 'fal', account: 'a', model: 'b/c', kind: 'overloaded', until, processes: 1 }],
  })
  t.equal(state.writes, 2)
})

t.test('a report is renewed before it expires, and expires with its process', async t => {
  const { reports, state, pass, read } = simulate()
  reports.start()
  for (let second = 0; second < 120; second++) {
    await pass(1_000)
    t.ok(await read())
  }
  t.ok(state.writes <= 14, 'it is not written more often than that needs')
  state.isAway = true
  await pass(31_000)
  t.equal(await read(), undefined)
  state.isAway = false
  await pass(2_000)
  t.ok(await read(), 'an attempt that failed is repeated')
})

t.test('a process that stops takes its report back', async t => {
  const { reports, pass, read } = simulate()
  reports.start()
  await pass(1_500)
  const stopped = reports.stop()
  await pass(1_000)
  await stopped
  t.equal(await read(), undefined)
})

t.test('without providers there is no report', async t => {
  const { reports, state, pass } = simulate([])
  reports.start()
  await pass(60_000)
  await reports.stop()
  t.equal(state.writes, 0)
})
