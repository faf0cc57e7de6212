import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import { MAX_RESENDS } from '../../../src/domain/account/webhooks.ts'
import {
  abandoned,
  accepted,
  archived,
  archiveRuns,
  completed,
  delivered,
  failed,
  granted,
  keyCreated,
  keyId,
  opened,
  recordDelivered,
  recordUndelivered,
  redeliver,
  redeliveryRequested,
  refunded,
  resend,
  runId,
  started,
  undelivered,
} from '../../support/account-samples.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'

const HOUR_MS = 60 * 60 * 1000

const later = '2026-01-01T00:00:05.000Z'
const running = [opened(), granted(100), ...accepted({ after: 90, webhook: true }), started()]
const ended = [...running, completed()]

t.test('a successful delivery is the last attempt', async t => {
  const history = given(account, ...ended)
  history.when(recordDelivered()).then(delivered())
  t.same(given(account, ...ended, delivered()).state.deliveries.size, 0)
})

t.test('a failed run also has a webhook', async () => {
  given(account, ...running, failed(), refunded(10, { after: 100 }))
    .when(recordDelivered())
    .then(delivered())
})

t.test('a failed attempt is followed by another or by abandonment', async t => {
  given(account, ...ended)
    .when(recordUndelivered(1, { next: later }))
    .then(undelivered(1, { next: later }))
  given(account, ...ended, undelivered(1, { next: later }))
    .when(recordUndelivered(2))
    .then(undelivered(2), abandoned(2))
  t.same(given(account, ...ended, undelivered(1), abandoned(1)).state.deliveries.size, 0)
})

t.test('runs that are open, or owed a webhook, are not archived', async () => {
  given(account, ...running)
    .when(archiveRuns(1, 2))
    .then(archived(2))
  given(account, ...ended)
    .when(archiveRuns(1))
    .then()
  given(account, ...ended, delivered())
    .when(archiveRuns(1, 2))
    .then(archived(1, 2))
})

t.test('each attempt is recorded once', async () => {
  const once = given(account, ...ended, undelivered(1, { next: later }))
  for (const command of [recordDelivered(1), recordUndelivered(1, { next: later }), recordDelivered(3)])
    once.when(command).refused('webhook_not_pending')
  once.when(recordDelivered(2)).then(delivered(2))
})

t.test('no delivery is pending for an open run, a run without a webhook or after the last attempt', async () => {
  for (const history of [
    running,
    [opened(), granted(100), ...accepted({ after: 90 }), started(), completed()],
    [...ended, delivered()],
    [...ended, undelivered(1), abandoned(1)],
  ])
    given(account, ...history)
      .when(recordDelivered())
      .refused('webhook_not_pending')
})

t.test('a redelivery starts again at the first attempt', async t => {
  for (const history of [
    [...ended, delivered()],
    [...ended, undelivered(1), abandoned(1)],
  ]) {
    given(account, ...history)
      .when(redeliver())
      .then(redeliveryRequested())
    const again = given(account, ...history, redeliveryRequested())
    t.same(again.state.deliveries.get(runId()), { attempts: 0 })
    again.when(recordDelivered(1)).then(delivered(1))
  }
})

t.test('a redelivery is refused while the run is open or a delivery is pending', async () => {
  given(account, ...running)
    .when(redeliver())
    .refused('run_not_ended')
  given(account, ...ended)
    .when(redeliver())
    .refused('webhook_pending')
})

t.test('the owner may have a hundred webhooks sent again in an hour, and the operator more', async t => {
  const history = [...ended, keyCreated(), delivered()]
  const resent = Array.from({ length: MAX_RESENDS }, () => by(keyId(), THEN_MS, redeliveryRequested(2)))
  t.equal(MAX_RESENDS, 100)
  given(account, ...history, ...resent.slice(1))
    .when(resend({ askedWith: 1 }))
    .then(redeliveryRequested())
  const full = given(account, ...history, ...resent)
  full
    .when(resend({ askedWith: 1 }), THEN_MS + 1000)
    .refused('too_many_resends', { limit: 100, retryAfterMs: HOUR_MS - 1000 })
  full.when(redeliver()).then(redeliveryRequested())
  full.when(resend({ askedWith: 1 }), THEN_MS + HOUR_MS).then(redeliveryRequested())
  t.equal(given(account, ...history, ...resent, ...resent).state.webhookResends.length, MAX_RESENDS)
})

t.test('sessions count like keys, and redeliveries of the operator do not count', async t => {
  const past = at(THEN_MS, redeliveryRequested(2))
  const requestedBy = (kind: string) => ({ ...past, metadata: { ...past.metadata, actor: { kind } } })
  const counted = (kind: string) => given(account, ...ended, requestedBy(kind)).state.webhookResends
  t.same(counted('session'), [THEN_MS])
  t.same(counted('key'), [THEN_MS])
  t.same(counted('operator'), [])
})
