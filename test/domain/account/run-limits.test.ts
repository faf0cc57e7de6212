import t from 'tap'
import { type AccountEvent, type RunErrorCode, runErrorCodes } from '../../../schemas/account-events.ts'
import { MAX_OPEN_RUN_BYTES, MAX_OPEN_RUNS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import {
  bytesOf,
  FAILURE_MS,
  FREE_EVENTS,
  MAX_OWN_FAILURES,
  SMALL_RUN_BYTES,
} from '../../../src/domain/account/limits.ts'
import type { AccountState } from '../../../src/domain/account/state.ts'
import type { PastEvent } from '../../../src/domain/decider.ts'
import {
  accepted,
  cancelRun,
  completed,
  debited,
  digest,
  failed,
  granted,
  opened,
  queued,
  queueRun,
  refunded,
  started,
} from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MAX_WAIT_MS = MAX_OWN_FAILURES * FAILURE_MS

const funded = [opened(), granted(100)]

/** A run that fails, numbered apart from the runs of the tests. */
const failure = (code: RunErrorCode = 'invalid_input', ms = THEN_MS) =>
  [...accepted({ run: 9, after: 90 }), started(9), failed(9, code), refunded(10, { run: 9, after: 100, code })].map(
    event => at(ms, event),
  )

const failures = (count: number, code?: RunErrorCode, ms?: number) =>
  Array.from({ length: count }, () => failure(code, ms)).flat()

/** A completed run without a price, since only its end matters. */
const success = (ms = THEN_MS) => at(ms, completed(9))

/** How long an account with this history has to wait from a time on; 0 if it may run something now. */
const waitMs = (history: (AccountEvent | PastEvent<AccountEvent>)[], atMs = THEN_MS): number => {
  const { decision } = given(account, ...history).when(queueRun(), atMs)
  if (!('refuse' in decision)) return 0
  if (decision.refuse.code !== 'too_many_failures') throw new Error(decision.refuse.code)
  return decision.refuse.retryAfterMs
}

for (const code of ['invalid_input', 'content_rejected', 'cancelled'] as const)
  t.test(`an account whose runs keep failing as ${code} has to wait`, async t => {
    t.equal(waitMs([...funded, ...failures(MAX_OWN_FAILURES - 1, code)]), 0)
    t.ok(waitMs([...funded, ...failures(MAX_OWN_FAILURES, code)]) > 0)
  })

for (const code of runErrorCodes.filter(code => !['invalid_input', 'content_rejected', 'cancelled'].includes(code)))
  t.test(`failures as ${code} do not count`, async t => {
    t.equal(waitMs([...funded, ...failures(3 * MAX_OWN_FAILURES, code)]), 0)
  })

t.test('an account may run again when the refusal says, and then at the pace at which failures expire', async t => {
  const tooMany = [...funded, ...failures(MAX_OWN_FAILURES + 1)]
  const nextMs = THEN_MS + waitMs(tooMany)
  t.equal(nextMs, THEN_MS + FAILURE_MS + 1)
  t.equal(waitMs(tooMany, nextMs - 1), 1)
  t.equal(waitMs(tooMany, nextMs), 0)
  t.equal(waitMs([...tooMany, ...failure('invalid_input', nextMs)], nextMs), FAILURE_MS)
  const afterAll = THEN_MS + MAX_WAIT_MS + FAILURE_MS
  t.equal(waitMs([...tooMany, ...failures(MAX_OWN_FAILURES - 1, 'cancelled', afterAll)], afterAll), 0)
  t.equal(waitMs([...tooMany, ...failures(MAX_OWN_FAILURES, 'cancelled', afterAll)], afterAll), 1)
})

const { limitBytes, otherBytes } = FREE_EVENTS.failedRuns
const large = { metadata: { text: 'x'.repeat(limitBytes / 40) } }
const largeBytes = otherBytes + bytesOf(queueRun(large).run)

/** Runs with much data that fail. */
const failedLarge = (count: number, code: RunErrorCode = 'invalid_input') =>
  Array.from({ length: count }, () => [
    ...accepted({ run: 9, after: 90, ...large }),
    ...[failed(9, code), refunded(10, { run: 9, after: 100, code })],
  ]).flat()

t.test('runs that fail with much data have to be small from then on', async t => {
  const count = Math.ceil(limitBytes / largeBytes)
  t.ok(count < MAX_OWN_FAILURES)
  const full = given(account, ...funded, ...failedLarge(count))
  const retryAfterMs = Math.ceil((count * largeBytes - limitBytes) * (HOUR_MS / limitBytes))
  const atLimit = { run: 10, metadata: { text: 'x'.repeat(SMALL_RUN_BYTES / 2) } }
  full.when(queueRun({ ...large, run: 10 })).refused('too_many_free_events', { of: 'failedRuns', retryAfterMs })
  full.when(queueRun(atLimit)).then(...accepted({ ...atLimit, after: 90 }))
  full.when(queueRun({ ...large, run: 10 }), THEN_MS + retryAfterMs).then(...accepted({ ...large, run: 10, after: 90 }))
  given(account, ...funded, ...failedLarge(count - 1))
    .when(queueRun({ ...large, run: 10 }))
    .then(...accepted({ ...large, run: 10, after: 90 }))
})

t.test('a large run that is paid for offsets one that failed, and those of a provider do not count', async t => {
  const count = Math.ceil(limitBytes / largeBytes)
  const paid = [
    ...accepted({ run: 8, after: 90, ...large }),
    started(8),
    completed(8),
    refunded(10, { run: 8, after: 100 }),
  ]
  const next = queueRun({ ...large, run: 10 })
  t.match(given(account, ...funded, ...failedLarge(count), ...paid).when(next).decision, { accept: [{}, {}] })
  t.match(given(account, ...funded, ...paid, ...failedLarge(count)).when(next).refusal, 'too_many_free_events')
  t.match(given(account, ...funded, ...failedLarge(count, 'provider_error')).when(next).decision, { accept: [{}, {}] })
})

t.test('a completed run offsets a failure, and not one to come', async t => {
  const tooMany = [...funded, ...failures(MAX_OWN_FAILURES)]
  t.equal(waitMs([...tooMany, success()]), 0)
  t.ok(waitMs([...tooMany, success(), ...failure()]) > 0)
  const before = Array.from({ length: 1000 }, () => success())
  t.ok(waitMs([...funded, ...before, ...failures(MAX_OWN_FAILURES)]) > 0)
})

t.test('an account never waits longer than all its failures would, however many runs fail at once', async t => {
  const wait = waitMs([...funded, ...failures(10_000)])
  t.ok(wait > MAX_WAIT_MS / 2)
  t.ok(wait <= MAX_WAIT_MS)
})

t.test('an account never waits longer because a clock goes back', async t => {
  for (const count of [MAX_OWN_FAILURES, MAX_OWN_FAILURES + 20, 10_000]) {
    const tooMany = [...funded, ...failures(count)]
    const { state } = given(account, ...tooMany)
    let refusedMs = 0
    for (let ms = THEN_MS - HOUR_MS; ms < THEN_MS + HOUR_MS; ms += 1000)
      if ('refuse' in account.decide(queueRun(), state, ms)) refusedMs += 1000
    t.ok(refusedMs > 0)
    t.ok(refusedMs <= MAX_WAIT_MS + 1000, `${refusedMs} ms`)
  }
})

t.test('failures under a clock that was ahead are forgotten, and later ones count', async t => {
  const ahead = [...funded, ...failures(MAX_OWN_FAILURES + 1, 'invalid_input', THEN_MS + HOUR_MS)]
  t.equal(waitMs(ahead), 0)
  t.equal(waitMs([...ahead, ...failures(MAX_OWN_FAILURES - 1)]), 0)
  t.ok(waitMs([...ahead, ...failures(MAX_OWN_FAILURES)]) > 0)
})

t.test('a clock that is a little behind forgets no failure', async t => {
  for (const count of [MAX_OWN_FAILURES, 10_000]) t.ok(waitMs([...funded, ...failures(count)], THEN_MS - MINUTE_MS) > 0)
})

t.test('the time of a failure is that of the clock, where the log is ahead of it', async t => {
  const late = failures(MAX_OWN_FAILURES).map(event => {
    const metadata = { at: new Date(THEN_MS + HOUR_MS).toISOString(), clock: event.metadata.at }
    return { ...event, metadata }
  })
  t.equal(waitMs([...funded, ...late]), 1)
})

t.test('a request is repeated even while the account has to wait', async () => {
  const history = [...funded, ...accepted({ key: 'a', after: 90 }), granted(10, { after: 100 }), ...failures(100)]
  given(account, ...history)
    .when(queueRun({ run: 2, key: 'a' }))
    .repeats(queueRun().run.runId)
  given(account, ...history)
    .when(queueRun({ run: 2, key: 'a', hash: digest('b') }))
    .refused('idempotency_mismatch')
})

const rich = [opened(), granted(2 * MAX_OPEN_RUNS)]
const queue = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    accepted({ run: index + 1, credits: 1, after: 2 * MAX_OPEN_RUNS - index - 1 }),
  ).flat()
const full = given(account, ...rich, ...queue(MAX_OPEN_RUNS)).state
const next = queueRun({ run: MAX_OPEN_RUNS + 1, credits: 1 })

/** The code of a refusal. */
const refusalOf = (state: AccountState, command = next) => {
  const decision = account.decide(command, state, THEN_MS)
  return 'refuse' in decision ? decision.refuse.code : undefined
}

const after = (state: AccountState, ...events: AccountEvent[]) =>
  events.reduce((before, event) => account.evolve(before, at(THEN_MS, event)), state)

t.test('the open runs of an account are limited', async t => {
  t.same(account.decide(next, full, THEN_MS), { refuse: { code: 'too_many_open_runs', limit: MAX_OPEN_RUNS } })
  t.equal(refusalOf(full, { ...next, startAt: { provider: 'sandbox', model: 'sandbox' } }), 'too_many_open_runs')
  t.equal(refusalOf(after(full, started(7))), 'too_many_open_runs')
  t.equal(refusalOf(after(full, started(7), completed(7))), undefined)
  const { accept } = account.decide(cancelRun(7), full, THEN_MS) as { accept: AccountEvent[] }
  t.equal(refusalOf(after(full, ...accept)), undefined)
})

t.test('a run counts until it ends', async t => {
  const one = given(account, ...funded, ...accepted({ after: 90 })).state
  const bytes = bytesOf(queueRun().run)
  t.equal(one.openRunBytes, bytes)
  t.equal(after(one, started()).openRunBytes, bytes)
  const ends: AccountEvent[][] = [
    [started(), completed()],
    [started(), failed(), refunded(10, { after: 100 })],
    [failed(), refunded(10, { after: 100 })],
  ]
  for (const events of ends) {
    const { openRuns, openRunBytes } = after(one, ...events)
    t.same({ open: openRuns.size, openRunBytes }, { open: 0, openRunBytes: 0 })
  }
})

t.test('the bytes of the open runs are limited', async t => {
  const metadata = { note: 'ü'.repeat(512 * 1024) }
  const bytes = bytesOf(queueRun({ metadata }).run)
  t.ok(bytes > 1024 * 1024, 'bytes count, not characters')
  const count = Math.floor(MAX_OPEN_RUN_BYTES / bytes)
  const history = Array.from({ length: count }, (_, index) => [
    debited(1, { run: index + 1, after: 2 * MAX_OPEN_RUNS - index - 1 }),
    queued({ run: index + 1, metadata }),
  ])
  const { state } = given(account, ...rich, ...history.flat())
  const large = { ...next, run: queueRun({ run: MAX_OPEN_RUNS + 1, metadata }).run }
  t.same(account.decide(large, state, THEN_MS), {
    refuse: { code: 'open_runs_too_large', limitBytes: MAX_OPEN_RUN_BYTES },
  })
  t.equal(refusalOf(state), undefined, 'a small run still fits')
  t.equal(refusalOf(after(state, started(3)), large), 'open_runs_too_large')
  t.equal(refusalOf(after(state, started(3), completed(3)), large), undefined)
})
