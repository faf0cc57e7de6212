import t from 'tap'
import type { RunHistory } from '../../../src/services/runs/run-history.ts'
import { timelineOf } from '../../../src/services/runs/run-timeline.ts'

const at = (ms: number) => new Date(Date.parse('2026-11-27T12:00:00.000Z') + ms).toISOString()

const upstream = (provider: string, account = 'one') => ({ provider, model: 'm', account })

const event = (type: string, ms: number, data: object = {}) => ({ type, data, metadata: { at: at(ms) } })

const history = (run: object, events: object[], latest?: object[]) =>
  ({
    run: { createdAt: at(0), status: 'completed', ...run },
    ...{ events, lines: [], webhook: latest && { latest } },
  }) as unknown as RunHistory

t.test('a run that another provider takes tells who did not', async t => {
  const run = { startedAt: at(38), completedAt: at(1200) }
  const events = [
    event('RunStarted', 38, { upstream: upstream('openai') }),
    event('RunCompleted', 1200, { upstream: upstream('replicate') }),
  ]
  t.same(timelineOf(history(run, events)), [
    { kind: 'accepted', startMs: 0 },
    { kind: 'waiting', startMs: 0, endMs: 38 },
    // The log does not tell when it refused.
    { kind: 'refused', upstream: upstream('openai') },
    { kind: 'working', startMs: 38, endMs: 1200, upstream: upstream('replicate') },
    { kind: 'completed', startMs: 1200 },
  ])
  const second = [events[0], event('RunSubmitted', 400, { upstream: upstream('openai', 'two') }), events[1]]
  t.match(
    timelineOf(history(run, second as object[])).slice(2, 4),
    [
      { kind: 'refused', upstream: upstream('openai'), startMs: 38, endMs: 400 },
      { kind: 'working', startMs: 400, upstream: upstream('replicate') },
    ],
    'another account of the same provider',
  )
})

const attempt = (provider: string, startMs: number, endMs?: number, reason?: string, status?: number) => ({
  ...upstream(provider),
  startedAt: at(startMs),
  ...(endMs !== undefined && { failedAt: at(endMs) }),
  ...{ ...(reason && { reason }), ...(status && { status }) },
})

t.test('each attempt is a step, and storing follows the last', async t => {
  const run = { startedAt: at(38), completedAt: at(2000) }
  const attempts = [attempt('openai', 40, 350, 'rate_limited', 429), attempt('fal', 1350)]
  const start = event('RunStarted', 38, { upstream: upstream('openai') })
  const end = { upstream: upstream('fal'), attempts, storingMs: 96 }
  const refused = { kind: 'refused', upstream: upstream('openai'), startMs: 40, endMs: 350 }
  const [stored, completed] = [
    { kind: 'stored', startMs: 1904, endMs: 2000 },
    { kind: 'completed', startMs: 2000 },
  ]
  t.same(timelineOf(history(run, [start, event('RunCompleted', 2000, end)])).slice(2), [
    { ...refused, reason: 'rate_limited', status: 429 },
    // It waited for a second before it tried the next one.
    { kind: 'working', startMs: 1350, endMs: 1904, upstream: upstream('fal') },
    ...[stored, completed],
  ])
  const job = [
    event('RunSubmitted', 1500, { upstream: upstream('fal'), attempts }),
    event('RunCompleted', 2000, { upstream: upstream('fal'), storingMs: 96 }),
  ]
  t.same(timelineOf(history(run, [start, ...job])).slice(3), [
    { kind: 'submitting', startMs: 1350, endMs: 1500, upstream: upstream('fal') },
    { kind: 'working', startMs: 1500, endMs: 1904, upstream: upstream('fal') },
    ...[stored, completed],
  ])
})

t.test('a run whose attempts all failed ends with the last of them', async t => {
  const run = { status: 'failed', startedAt: at(0), completedAt: at(900) }
  const attempts = [
    attempt('openai', 0, 300, 'overloaded', 503),
    attempt('fal', 300, 600, 'provider_error'),
    // The clock went back.
    attempt('openai', 700, 650, 'unreachable'),
  ]
  const events = [
    event('RunStarted', 0, { upstream: upstream('openai') }),
    event('RunFailed', 900, { upstream: upstream('openai'), attempts }),
  ]
  t.same(timelineOf(history(run, events)).slice(1), [
    ...[
      { kind: 'refused', upstream: upstream('openai'), startMs: 0, endMs: 300, reason: 'overloaded', status: 503 },
      { kind: 'refused', upstream: upstream('fal'), startMs: 300, endMs: 600, reason: 'provider_error' },
      { kind: 'refused', upstream: upstream('openai'), startMs: 700, endMs: 700, reason: 'unreachable' },
    ],
    { kind: 'failed', startMs: 900 },
  ])
})

t.test('an open run goes on, and may be asked to end', async t => {
  t.same(timelineOf(history({ status: 'queued' }, [])), [
    { kind: 'accepted', startMs: 0 },
    { kind: 'waiting', startMs: 0 },
  ])
  const events = [event('RunStarted', 0, { upstream: upstream('fal') }), event('RunCancelRequested', 900)]
  t.same(timelineOf(history({ status: 'processing', startedAt: at(0), provider: 'fal' }, events)), [
    { kind: 'accepted', startMs: 0 },
    { kind: 'working', startMs: 0, upstream: upstream('fal') },
    { kind: 'cancel_requested', startMs: 900 },
  ])
})

t.test('attempts at a webhook last from when they are due', async t => {
  const run = { status: 'failed', startedAt: at(0), completedAt: at(100), provider: 'fal' }
  const latest = [
    { attempt: 1, at: at(150), status: 503, reason: 'no', nextAttemptAt: at(5_150) },
    { attempt: 2, at: at(5_200), status: 200 },
    { attempt: 1, at: at(9_000), status: 200 },
  ]
  const refund = event('CreditsRefunded', 100, { amountMicros: 5 })
  t.same(timelineOf(history(run, [refund], latest)).slice(2), [
    { kind: 'failed', startMs: 100 },
    { kind: 'webhook', startMs: 100, endMs: 150, attempt: latest[0] },
    { kind: 'webhook', startMs: 5_150, endMs: 5_200, attempt: latest[1] },
    { kind: 'webhook', startMs: 9_000, endMs: 9_000, attempt: latest[2] },
  ])
})

t.test('later refunds and deletions are moments', async t => {
  const run = { startedAt: at(0), completedAt: at(10), outputDeletedAt: at(90_000) }
  const events = [event('CreditsRefunded', 50_000, { amountMicros: 5 })]
  t.same(timelineOf(history(run, events)).slice(-2), [
    { kind: 'refunded', startMs: 50_000, amountMicros: 5 },
    { kind: 'deleted', startMs: 90_000 },
  ])
})
