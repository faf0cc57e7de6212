import t from 'tap'
import { makeLink } from '../../support/links.ts'
import { verified } from '../../support/verified.ts'

type Written = [type: string, data: object]

/** The faults of a stream `operator` with these events, as somebody who can write the log would link it. */
const faultsOf = async (...events: Written[]) => {
  let before: string | undefined
  const stream = events.map(([type, data], revision) => {
    const event = { id: crypto.randomUUID(), stream: 'operator', revision, position: revision, type, data }
    const metadata = { format: 2, at: '2026-11-24T00:00:00.000Z', actor: { kind: 'service' } }
    const { link } = makeLink(before, { ...event, metadata })
    before = link
    return { ...event, metadata: { ...metadata, hash: link } }
  })
  return ((await verified(stream, { isDense: true })).faults ?? []).map(({ what }) => what)
}

const sink = { kind: 'seal_sink_fails', sink: '/mnt/seals.jsonl' }
const key = { kind: 'provider_refuses', provider: 'fal', account: 'a1b2c3d4', reason: 'unauthorized' }
const raised = (number: number, alert: object, mail = true): Written => [
  'OperatorNoticeRaised',
  { number, trouble: alert, mail },
]
const ended = (number: number): Written => ['OperatorTroubleEnded', { number }]
const delivered = (attempt: number, number = 1): Written => ['OperatorNoticeDelivered', { number, attempt }]
const failed = (attempt: number, nextAttemptAt?: string): Written => [
  'OperatorNoticeAttemptFailed',
  { number: 1, attempt, reason: 'no', ...(nextAttemptAt !== undefined && { nextAttemptAt }) },
]
const abandoned: Written = ['OperatorNoticeAbandoned', { number: 1, attempts: 1 }]

t.test('alerts that begin and end in turns are no fault', async t => {
  const later = '2026-11-24T00:00:05.000Z'
  t.same(await faultsOf(raised(1, sink), failed(1, later), raised(2, key), delivered(2), ended(1), raised(3, sink)), [])
  t.same(await faultsOf(raised(1, sink), failed(1), abandoned, ended(1)), [])
})

t.test('an alert that is raised twice, ends twice or has another number is a fault', async t => {
  t.match(await faultsOf(raised(1, sink), raised(2, sink)), [/alert 1 has not ended/])
  t.match(await faultsOf(raised(1, key), raised(2, { ...key, reason: 'out_of_quota' })), [/alert 1 has not ended/])
  t.match(await faultsOf(raised(1, sink), ended(1), ended(1)), [/alert 1 is not open/])
  t.match(await faultsOf(raised(1, sink), raised(3, key)), [/its number is 3, and 1 came before it/])
})

t.test('mail that was not due, or was not abandoned, is a fault', async t => {
  t.match(await faultsOf(raised(1, sink, false), delivered(1)), [/no delivery of this notice is pending/])
  t.match(await faultsOf(raised(1, sink), delivered(1), delivered(2)), [/no delivery of this notice is pending/])
  t.match(await faultsOf(raised(1, sink), delivered(2)), [/its attempt is 2, and 0 came before it/])
  t.match(await faultsOf(raised(1, sink), failed(1)), [/the stream ends before the OperatorNoticeAbandoned of 1/])
})
