import t from 'tap'
import type { AccountEvent, RunAttempt } from '../../../schemas/account-events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  cancelRequested,
  cancelRun,
  completed,
  completeRun,
  costRecorded,
  debited,
  failed,
  failRun,
  granted,
  keyCreated,
  keyRevoked,
  opened,
  queued,
  queueRun,
  refunded,
  runId,
  started,
  startedAtOnce,
  startRun,
  submitRun,
  submitted,
  upstream,
  vendorUpstream,
} from '../../support/account-samples.ts'
import { given } from '../../support/given.ts'

const funded = [opened(), granted(100)]
const waiting = [...funded, ...accepted({ after: 90 })]
const working = [...waiting, started()]
const afterEnd = {
  completed: [...working, completed()],
  failed: [...working, failed(), refunded(10, { after: 100 })],
}

t.test('a run is queued together with its debit', async () => {
  given(account, ...funded)
    .when(queueRun({ metadata: { order: 7 } }))
    .then(debited(10, { after: 90 }), queued({ metadata: { order: 7 } }))
})

t.test('a run with a free slot starts in the same append, and goes on as if it had waited', async t => {
  const run = { key: 'a', webhook: true }
  const [debit, queueing] = accepted({ after: 90, ...run }) as [AccountEvent, AccountEvent]
  given(account, ...funded)
    .when(queueRun({ ...run, startNow: true }))
    .then(debit, startedAtOnce(queueing))
  const ended = (...start: AccountEvent[]) => given(account, ...funded, debit, ...start, completed()).state
  t.same(ended(startedAtOnce(queueing)), ended(queueing, started()))
  const { openRuns } = given(account, ...funded, debit, startedAtOnce(queueing)).state
  t.match(openRuns.get(runId()), { isStarted: true, upstream, hasWebhook: true, chargedMicros: toMicros(10) })
})

t.test('a run may cost the whole balance but not a microcredit more', async () => {
  given(account, ...funded)
    .when(queueRun({ credits: 100 }))
    .then(debited(100, { after: 0 }), queued())
  given(account, ...funded)
    .when(queueRun({ credits: 100.000001 }))
    .refused('insufficient_credits', { requiredMicros: toMicros(100.000001), balanceMicros: toMicros(100) })
})

t.test('what went before the provider that took a run is in its next event', async () => {
  const at = { startedAt: '2026-11-27T12:00:00.000Z', failedAt: '2026-11-27T12:00:00.310Z' }
  const attempts: RunAttempt[] = [
    { provider: 'other', model: 'm', ...at, status: 429, reason: 'rate_limited' },
    { ...upstream, startedAt: at.failedAt },
  ]
  const withFacts = (event: AccountEvent, facts: object) => ({ ...event, data: { ...event.data, ...facts } }) as never
  given(account, ...working)
    .when({ ...submitRun(), attempts })
    .then(withFacts(submitted(), { attempts }))
  given(account, ...working)
    .when({ ...completeRun(), upstream, attempts, storingMs: 0 })
    .then(withFacts(completed(), { upstream, attempts, storingMs: 0 }))
  given(account, ...working)
    .when({ ...failRun(), upstream, attempts })
    .then(withFacts(failed(), { upstream, attempts }), refunded(10, { after: 100 }))
})

t.test('a queued run starts, may be submitted, and completes', async () => {
  given(account, ...waiting)
    .when(startRun())
    .then(started())
  given(account, ...working)
    .when(submitRun())
    .then(submitted())
  given(account, ...working)
    .when(completeRun())
    .then(completed())
  given(account, ...working, submitted())
    .when(completeRun())
    .then(completed())
})

t.test('a run in any open state can fail and is refunded in the same append', async () => {
  for (const history of [waiting, working, [...working, submitted()]])
    given(account, ...history)
      .when(failRun())
      .then(failed(), refunded(10, { after: 100 }))
})

t.test('what a run costs is recorded with its end, unless it never started', async () => {
  const cost = { amountMicros: 80_000, currency: 'USD', source: 'price_list', salt: 'a'.repeat(32) } as const
  const worked = { upstream: vendorUpstream, cost }
  const end = { ...completed(), data: { ...completed().data, ...worked } } as AccountEvent
  const failure = { ...failed(), data: { ...failed().data, upstream: vendorUpstream } } as AccountEvent
  given(account, ...working)
    .when({ ...completeRun(), ...worked })
    .then(end)
  given(account, ...working)
    .when({ ...failRun(), ...worked })
    .then(failure, refunded(10, { after: 100 }), costRecorded(cost))
  given(account, ...waiting)
    .when({ ...failRun(), ...worked })
    .then(failure, refunded(10, { after: 100 }))
  given(account, ...working, end)
    .when({ ...completeRun(), ...worked })
    .refused('run_not_open')
  given(account, ...working)
    .when({ ...completeRun(), cost })
    .then(completed())
})

t.test('each step of a run happens once and in order', async () => {
  given(account, ...waiting)
    .when(completeRun())
    .refused('run_not_started')
  given(account, ...waiting)
    .when(submitRun())
    .refused('run_not_started')
  given(account, ...working)
    .when(startRun())
    .refused('run_already_started')
  given(account, ...working, submitted())
    .when(submitRun())
    .refused('run_already_submitted')
})

for (const [end, history] of Object.entries(afterEnd))
  t.test(`a ${end} run changes no more, so it is never refunded twice`, async () => {
    for (const command of [startRun(), submitRun(), cancelRun(), completeRun(), failRun()])
      given(account, ...history)
        .when(command)
        .refused('run_not_open')
  })

t.test('a finished run leaves the state and open runs stay', async t => {
  for (const history of Object.values(afterEnd)) {
    const { balanceMicros } = given(account, ...history).state
    const after = fromMicros(balanceMicros) - 10
    const { state } = given(account, ...history, ...accepted({ run: 2, after }))
    t.same([...state.openRuns.keys()], [runId(2)])
  }
})

t.test('the state holds the provider job of an open run', async t => {
  const { state } = given(account, ...working, submitted())
  t.match(state.openRuns.get(runId(1)), { chargedMicros: toMicros(10), isStarted: true, jobId: 'job-1' })
})

t.test('a key revoked after the request arrived cannot pay for a run', async () => {
  given(account, ...funded, keyCreated())
    .when(queueRun({ askedWith: 1 }))
    .then(...accepted({ after: 90 }))
  given(account, ...funded, keyCreated(), keyRevoked())
    .when(queueRun({ askedWith: 1 }))
    .refused('key_revoked')
})

t.test('cancelling a queued run ends and refunds it in one append', async () => {
  given(account, ...waiting)
    .when(cancelRun())
    .then(
      {
        type: 'RunFailed',
        data: { runId: runId(1), error: { code: 'cancelled', message: 'The run was cancelled before it began.' } },
      },
      refunded(10, { after: 100, code: 'cancelled' }),
    )
})

t.test('the cancellation of a running run is recorded once', async () => {
  for (const history of [working, [...working, submitted()]]) {
    given(account, ...history)
      .when(cancelRun())
      .then(cancelRequested())
    given(account, ...history, cancelRequested())
      .when(cancelRun())
      .then()
  }
})

t.test('a run can complete or fail after a cancellation request', async () => {
  given(account, ...working, cancelRequested())
    .when(completeRun())
    .then(completed())
  given(account, ...working, cancelRequested())
    .when(failRun(1, 'cancelled'))
    .then(failed(1, 'cancelled'), refunded(10, { after: 100, code: 'cancelled' }))
})
