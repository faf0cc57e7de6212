import t from 'tap'
import type { Mode } from '../../../schemas/catalog.ts'
import type { Failed, ProviderOutcome } from '../../../src/ports/provider.ts'
import { STORING_MS } from '../../../src/reactors/runs/artifacts.ts'
import { leftFilesUntil } from '../../../src/reactors/runs/outcomes.ts'
import { cancelled, lost, stopped, timedOut } from '../../../src/reactors/runs/provider-calls.ts'
import { accountId, runId } from '../../support/account-samples.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const clock = new ManualClock()
const TIMEOUT_MS = 60_000
const rejected: Failed = { kind: 'failed', code: 'content_rejected', message: 'No.' }
const done: ProviderOutcome = { kind: 'done', media: [] }

const untilMs = (mode: Mode, ageMs: number | undefined, outcome: ProviderOutcome): number | undefined => {
  const startedMs = clock.nowMs() - (ageMs ?? 0)
  const started = ageMs !== undefined && { startedAt: new Date(startedMs).toISOString() }
  const run = { accountId: accountId(), runId: runId(1), endpoint: 't2v', mode, timeoutMs: TIMEOUT_MS, ...started }
  const until = leftFilesUntil(run, outcome, clock)
  return until === undefined ? undefined : Date.parse(until) - startedMs - TIMEOUT_MS
}

t.test('a quick failure, that of a sync run, and that of a run that never started leave nothing', async t => {
  for (const failed of [rejected, cancelled, timedOut(TIMEOUT_MS)]) {
    t.equal(untilMs('async', 0, failed), undefined)
    t.equal(untilMs('async', 6_999, failed), undefined)
    t.equal(untilMs('sync', 30_000, failed), undefined)
    t.equal(untilMs('async', undefined, failed), undefined)
  }
})

t.test('a failure leaves files if another attempt may have stored them', async t => {
  const possible: [Mode, number, ProviderOutcome][] = [
    ['async', 7_000, rejected],
    ['async', -7_000, rejected],
    ['async', TIMEOUT_MS, timedOut(TIMEOUT_MS)],
    ['sync', 15_000, lost],
    ['async', 15_000, lost],
    ['sync', 0, stopped],
    ['sync', 0, done],
    ['async', 0, done],
  ]
  for (const [mode, ageMs, outcome] of possible)
    t.ok((untilMs(mode, ageMs, outcome) ?? 0) > 3 * STORING_MS, JSON.stringify({ mode, ageMs, outcome }))
})
