import t, { type Test } from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { createLogger } from '../../../src/adapters/logger/pino.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { Activity } from '../../../src/services/operator/activity.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/until.ts'

const HOUR_MS = 60 * 60 * 1000

/** An activity that follows a log without events, and takes those of a test. */
const start = async (t: Test) => {
  const clock = new ManualClock()
  const log: Pick<EventLog, 'head' | 'follow'> = {
    head: async () => 7,
    async *follow(_after, signal) {
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    },
  }
  const activity = new Activity({ log, clock, logger: createLogger('silent') })
  t.equal(activity.recent(), undefined, 'nothing is known before the log is followed')
  activity.start()
  t.teardown(() => activity.stop())
  await until('it follows', async () => activity.recent())
  let position = 8
  const take = (type: string, data: object) => {
    const at = new Date(clock.nowMs()).toISOString()
    const place = { id: String(position), stream: 'account-acct_1', revision: position, position: position++ }
    activity.take({ ...place, type, data, metadata: { at } } as RawEvent)
  }
  const upstream = { provider: 'fal', model: 'x' }
  return {
    clock,
    activity,
    take,
    accept: (runId: string, credits: number, usdPerCreditMicros: number | undefined = 10_000) => {
      take('CreditsDebited', { runId, amountMicros: credits * 1_000_000, receipt: { model: 'm', usdPerCreditMicros } })
      take('RunStarted', { runId, upstream })
    },
    complete: (runId: string, amountMicros?: number) =>
      take('RunCompleted', {
        ...{ runId, upstream },
        ...(amountMicros !== undefined && { cost: { amountMicros, currency: 'USD', source: 'reported' } }),
      }),
    fail: (runId: string) => take('RunFailed', { runId, upstream }),
  }
}

t.test('runs are counted by provider, with their latency, cost and revenue', async t => {
  const { clock, activity, accept, complete, fail, take } = await start(t)
  accept('1', 10)
  clock.advance(2_000)
  complete('1', 60_000)
  accept('2', 10)
  take('CreditsReleased', { runId: '2', amountMicros: 4_000_000 })
  complete('2', 10_000)
  accept('3', 10)
  fail('3')
  take('ProviderCostRecorded', { runId: '3', amountMicros: 5_000, currency: 'USD' })
  const recent = activity.recent()
  t.match(recent, { runs: 3, failed: 1, runsAMinute: 3, belowCost: [] })
  t.same(recent?.byProvider, [
    {
      provider: 'fal',
      ...{ runs: 3, failed: 1, earnedUsdMicros: 160_000, costUsdMicros: 75_000, unknown: 0 },
      ...{ p50Ms: 0, p99Ms: 2_000 },
    },
  ])
})

t.test('a family that costs more than it earns is named, and what is unknown is counted', async t => {
  const { activity, accept, complete, take } = await start(t)
  accept('1', 1)
  complete('1', 10_001)
  t.match(activity.recent()?.belowCost, [
    { provider: 'fal', model: 'm', earnedUsdMicros: 10_000, costUsdMicros: 10_001 },
  ])
  take('CreditsDebited', { runId: '2', amountMicros: 1_000_000, receipt: { model: 'm' } })
  take('RunStarted', { runId: '2', upstream: { provider: 'fal', model: 'x' } })
  complete('2')
  take('ProviderCostRecorded', { runId: '2', source: 'unknown' })
  t.match(activity.recent()?.byProvider, [{ runs: 2, unknown: 2 }])
})

t.test('what is older than an hour is forgotten, and test runs never count', async t => {
  const { clock, activity, accept, complete, take } = await start(t)
  accept('1', 10)
  complete('1', 0)
  take('RunStarted', { runId: 'test', livemode: false, upstream: { provider: 'sandbox', model: 'x' } })
  complete('test')
  clock.advance(HOUR_MS / 2)
  t.match(activity.recent(), { runs: 1, sinceMs: clock.nowMs() - HOUR_MS / 2 })
  clock.advance(HOUR_MS / 2 + 60_000)
  t.match(activity.recent(), { runs: 0, byProvider: [], sinceMs: clock.nowMs() - HOUR_MS })
})
