import t from 'tap'
import { ReportedBreakers } from '../../../src/services/providers/reported-breakers.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const START_MS = Date.parse('2026-11-24T12:00:00.000Z')
const at = (seconds: number) => new Date(START_MS + seconds * 1000).toISOString()
const rest = (account: string, seconds: number, model?: string) => ({
  ...{ provider: 'fal', account, kind: 'unauthorized', until: at(seconds) },
  ...(model !== undefined && { model }),
})

t.test('an account waits as long as all processes report that it does', async t => {
  const manual = new ManualClock(START_MS)
  const clock = Object.assign(manual, { monotonicMs: () => manual.nowMs() - START_MS })
  const report = (...rests: object[]) => ({
    text: JSON.stringify({ calls: { fal: 0 }, maxCalls: 8, rests }),
    untilMs: START_MS + 20_000,
  })
  const both = [report(rest('a', 10), rest('b', 10), rest('c', 9, 'm')), report(rest('a', 12), rest('c', 9, 'm'))]
  const rests = new ReportedBreakers({ views: { reports: async () => both }, clock })
  const leftMs = (account: string, model = 'n') => {
    const { untilMs = Number.NaN } = rests.openBreakerOf({ provider: 'fal', account }, model) ?? {}
    return untilMs - clock.monotonicMs()
  }
  t.same(leftMs('a'), Number.NaN, 'nothing is known before it is loaded')
  await rests.load()
  t.equal(leftMs('a'), 12_000)
  t.same(leftMs('b'), Number.NaN, 'the other process takes its runs')
  t.equal(leftMs('c', 'm'), 9_000)
  t.same(leftMs('c'), Number.NaN, 'its other models take runs')
  clock.advance(12_000)
  t.same(leftMs('a'), Number.NaN)
})
