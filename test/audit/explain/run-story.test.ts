import t from 'tap'
import type { LedgerLine } from '../../../src/audit/books.ts'
import { RunStory } from '../../../src/audit/explain/run-story.ts'
import type { AccountRecord } from '../../../src/audit/read-log.ts'

const runId = 'run_01m820bnqkfvgrrkb8dhy3yd82'
const actor = { kind: 'reactor' }
const happened = (type: string, at: string, data: object = {}, clock?: string) =>
  ({ type, data: { runId, ...data }, metadata: { at, clock, actor } }) as unknown as AccountRecord
const line = (freeMicros: number, paidMicros: number) => ({ change: { freeMicros, paidMicros } }) as LedgerLine

const told = (...events: [AccountRecord, LedgerLine?][]) => {
  const story = new RunStory()
  for (const [event, moved] of events) story.take(event, moved)
  return story
}

const minute = (number: number) => `2026-11-22T16:1${number}:00.000Z`

t.test('free and paid credits are told apart, those it used and those it got back', async t => {
  const { used, refunds } = told(
    [happened('CreditsDebited', minute(0)), line(-4, -6)],
    [happened('CreditsRefunded', minute(1), { reason: 'a gift' }), line(0, 5)],
  )
  t.same(used, { freeMicros: 4, paidMicros: 6 })
  t.same(refunds, [{ at: minute(1), credits: { freeMicros: 0, paidMicros: 5 }, reason: 'a gift', actor }])
})

t.test('a release tells the final price, and the end of the run its tokens', async t => {
  const usage = { input: 1, cached_input: 0, output: 2, thinking: 0 }
  const {
    release,
    used,
    usage: tokens,
  } = told(
    [happened('CreditsDebited', minute(0)), line(-4, -6)],
    [happened('CreditsReleased', minute(1), { receipt: { totalMicros: 1 } }), line(3, 6)],
    [happened('RunCompleted', minute(1), { output: { artifacts: [] }, usage })],
  )
  t.same(release, { at: minute(1), credits: { freeMicros: 3, paidMicros: 6 }, receipt: { totalMicros: 1 } })
  t.same([used, tokens], [{ freeMicros: 4, paidMicros: 6 }, usage])
})

t.test('each step tells the time since the one before, by the clock', async t => {
  const { steps, jobId, outputDeletedAt, status } = told(
    [happened('RunQueued', minute(0))],
    [happened('RunStarted', minute(2), {}, minute(1))],
    [happened('RunSubmitted', minute(2), { jobId: 'job-7' })],
    [happened('RunCancelRequested', minute(3))],
    [happened('RunCompleted', minute(5), { output: { artifacts: [] } })],
    [happened('RunOutputDeleted', minute(9))],
  )
  t.same(
    steps.map(({ state, sinceMs }) => [state, sinceMs / 60_000]),
    [
      ['queued', 0],
      ['processing', 1],
      ['submitted', 1],
      ['cancel_requested', 1],
      ['completed', 2],
      ['output_deleted', 4],
    ],
  )
  t.same([jobId, outputDeletedAt, status], ['job-7', minute(9), 'completed'])
})

t.test('a redelivery of the webhook is told with its URL', async t => {
  const url = 'https://example.com/hook'
  const { webhook } = told([happened('WebhookRedeliveryRequested', minute(0), { url })])
  t.same(webhook, [{ kind: 'redelivery_requested', at: minute(0), actor, url }])
})
