import t from 'tap'
import type { Alert, OperatorEvent } from '../../../schemas/operator-events.ts'
import type { PastEvent } from '../../../src/domain/decider.ts'
import { operatorAlerts, type RecordAlertMail } from '../../../src/domain/operator/alerts.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const unauthorized = { kind: 'provider_refuses', provider: 'fal', account: 'a1b2c3d4', reason: 'unauthorized' } as const
const outOfQuota = { ...unauthorized, reason: 'out_of_quota' } as const
const sink = { kind: 'seal_sink_fails', sink: '/mnt/seals.jsonl' } as const

const raise = (alert: Alert, mail = true) => ({ type: 'RaiseAlert', alert, mail }) as const
const end = (of: Alert) => ({ type: 'EndAlert', of }) as const
const record = (attempt: number, outcome: RecordAlertMail['outcome'], number = 1) =>
  ({ type: 'RecordAlertMail', number, attempt, outcome }) as const
const no = (nextAttemptAt?: string) =>
  ({ delivered: false, reason: 'no', ...(nextAttemptAt !== undefined && { nextAttemptAt }) }) as const

const raised = (number: number, alert: Alert, mail = true): OperatorEvent => ({
  type: 'OperatorNoticeRaised',
  data: { number, trouble: alert, mail },
})
const ended = (number: number): OperatorEvent => ({ type: 'OperatorTroubleEnded', data: { number } })
const delivered = (attempt: number): OperatorEvent => ({
  type: 'OperatorNoticeDelivered',
  data: { number: 1, attempt },
})
const failed = (attempt: number, next?: string): OperatorEvent => ({
  type: 'OperatorNoticeAttemptFailed',
  data: { number: 1, attempt, reason: 'no', ...(next !== undefined && { nextAttemptAt: next }) },
})
const abandoned: OperatorEvent = { type: 'OperatorNoticeAbandoned', data: { number: 1, attempts: 2 } }

const having = (...events: (OperatorEvent | PastEvent<OperatorEvent>)[]) => given(operatorAlerts, ...events)

t.test('an alert is recorded once, until it is over', async () => {
  having().when(raise(unauthorized)).then(raised(1, unauthorized))
  having(raised(1, unauthorized)).when(raise(unauthorized)).then()
  having(raised(1, unauthorized)).when(end(unauthorized)).then(ended(1))
  having(raised(1, unauthorized), ended(1)).when(end(unauthorized)).then()
  having(raised(1, unauthorized), delivered(1), ended(1)).when(raise(unauthorized)).then(raised(2, unauthorized))
})

t.test('mail about an alert that comes and goes is due once an hour', async t => {
  const HOUR_MS = 60 * 60 * 1000
  const later = THEN_MS + 5_000
  const again = [
    raised(1, unauthorized),
    delivered(1),
    at(THEN_MS + 1_000, ended(1)),
    at(later, raised(2, unauthorized)),
  ]
  const { state } = having(...again)
  t.equal(state.pending.get(2)?.dueAt, new Date(THEN_MS + HOUR_MS).toISOString())
  having(...again, ended(2))
    .when(raise(unauthorized))
    .then(raised(3, unauthorized, false))
  having(...again)
    .when(raise(outOfQuota))
    .then(ended(2), raised(3, outOfQuota))
  const third = at(later + HOUR_MS, raised(3, unauthorized))
  const told = { ...delivered(1), data: { number: 2, attempt: 1 } } as OperatorEvent
  const due = having(...again, told, ended(2), third).state.pending.get(3)?.dueAt
  t.equal(due, new Date(THEN_MS + 2 * HOUR_MS).toISOString(), 'an hour after the last mail')
  const muchLater = at(later + 2 * HOUR_MS, raised(3, unauthorized))
  t.equal(having(...again, told, ended(2), muchLater).state.pending.get(3)?.dueAt, muchLater.metadata.at, 'at once')
})

t.test('alerts of other accounts and sinks are their own', async () => {
  const other = { ...unauthorized, account: 'e5f6a7b8' }
  having(raised(1, unauthorized)).when(raise(other)).then(raised(2, other))
  having(raised(1, unauthorized)).when(raise(sink)).then(raised(2, sink))
  having(raised(1, unauthorized), raised(2, sink)).when(end(unauthorized)).then(ended(1))
})

t.test('another alert of the same account replaces it', async () => {
  having(raised(1, unauthorized)).when(raise(outOfQuota)).then(ended(1), raised(2, outOfQuota))
  having(raised(1, unauthorized), ended(1), raised(2, outOfQuota)).when(end(unauthorized)).then(ended(2))
})

t.test('open alerts and pending mails are bounded', async t => {
  const many = Array.from({ length: 1_000 }, (_, index) => raised(index + 1, { ...sink, sink: `/${index}` }))
  const { state, when } = having(...many)
  t.equal(state.open.size, 1_000)
  when(raise(sink)).then()
  having(...many.slice(0, 200))
    .when(raise(sink))
    .then(raised(201, sink, false))
})

t.test('an attempt is recorded once, and the last failed one abandons the mail', async () => {
  const next = '2026-01-01T00:00:05.000Z'
  const { when } = having(raised(1, sink))
  when(record(1, { delivered: true })).then(delivered(1))
  when(record(2, { delivered: true })).refused('notice_not_due')
  when(record(1, { delivered: true }, 2)).refused('notice_not_due')
  when(record(1, no(next))).then(failed(1, next))
  having(raised(1, sink), failed(1, next)).when(record(2, no())).then(failed(2), abandoned)
  for (const over of [[delivered(1)], [failed(1, next), failed(2), abandoned]])
    having(raised(1, sink), ...over)
      .when(record(over.length, { delivered: true }))
      .refused('notice_not_due')
  having(raised(1, sink, false))
    .when(record(1, { delivered: true }))
    .refused('notice_not_due')
})
