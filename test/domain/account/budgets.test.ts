import t from 'tap'
import type { AccountEvent, BudgetPeriod } from '../../../schemas/account-events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { budgetAt } from '../../../src/domain/account/budgets.ts'
import type { PastEvent } from '../../../src/domain/decider.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  completed,
  debitFacts,
  failed,
  failRun,
  granted,
  keyCreated,
  keyId,
  keyRevoked,
  keyWithBudget,
  opened,
  queueRun,
  refunded,
  started,
} from '../../support/account-samples.ts'
import { at, by, given } from '../../support/given.ts'

const ms = (time: string) => Date.parse(time)

/** The events of a run that a key asked for, with the balance after it in credits. */
const spent = (run: number, time: string, { credits = 10, after = 900, key = 1 } = {}) =>
  accepted({ run, credits, after }).map(event => by(keyId(key), ms(time), event))

const history = (...events: (AccountEvent | PastEvent<AccountEvent>)[]) =>
  given(account, opened(), granted(1000, { after: 1000 }), ...events)

const next = (time: string, { run = 9, credits = 10, key = 1 } = {}) =>
  [queueRun({ run, credits, askedWith: key }), ms(time)] as const

/** What is spent of a key's budget at a time, in credits. */
const spentAt = ({ state }: ReturnType<typeof history>, time: string, key = 1) => {
  const budget = budgetAt(state.activeKeys.get(keyId(key)) ?? {}, ms(time))
  return budget && fromMicros(budget.spentMicros)
}

t.test('a budget may be spent in full, and not passed', async () => {
  const half = history(keyWithBudget(20), ...spent(1, '2026-11-25T10:00:00.000Z', { after: 990 }))
  half.when(...next('2026-11-25T11:00:00.000Z')).then(...accepted({ run: 9, after: 980 }))
  half.when(...next('2026-11-25T11:00:00.000Z', { credits: 10.000001 })).refused('budget_exceeded', {
    of: 'key',
    requiredMicros: toMicros(10.000001),
    period: 'day',
    budgetMicros: toMicros(20),
    spentMicros: toMicros(10),
    renewsAt: '2026-11-26T00:00:00.000Z',
  })
})

const boundaries: Record<BudgetPeriod, { first: string; last: string; next: string }[]> = {
  day: [{ first: '2026-11-25T00:00:00.000Z', last: '2026-11-25T23:59:59.999Z', next: '2026-11-26T00:00:00.000Z' }],
  // 2026-11-23 is a Monday. The other week begins in one year and ends in the next.
  week: [
    { first: '2026-11-23T00:00:00.000Z', last: '2026-11-29T23:59:59.999Z', next: '2026-11-30T00:00:00.000Z' },
    { first: '2026-12-28T00:00:00.000Z', last: '2027-01-03T23:59:59.999Z', next: '2027-01-04T00:00:00.000Z' },
  ],
  month: [
    { first: '2026-12-01T00:00:00.000Z', last: '2026-12-31T23:59:59.999Z', next: '2027-01-01T00:00:00.000Z' },
    { first: '2028-02-01T00:00:00.000Z', last: '2028-02-29T23:59:59.999Z', next: '2028-03-01T00:00:00.000Z' },
  ],
}

for (const [period, spans] of Object.entries(boundaries) as [BudgetPeriod, (typeof boundaries)['day']][])
  for (const { first, last, next: renewsAt } of spans)
    t.test(`the ${period} from ${first} lasts to its last millisecond`, async () => {
      const full = history(keyWithBudget(10, period), ...spent(1, first, { after: 990 }))
      const facts = {
        of: 'key',
        requiredMicros: toMicros(10),
        period,
        budgetMicros: toMicros(10),
        spentMicros: toMicros(10),
      }
      full.when(...next(first)).refused('budget_exceeded', { ...facts, renewsAt })
      full.when(...next(last)).refused('budget_exceeded', { ...facts, renewsAt })
      full.when(...next(renewsAt)).then(...accepted({ run: 9, after: 980 }))
    })

t.test('each key has its own budget', async t => {
  const two = history(
    ...[keyWithBudget(10, 'day', 1), keyWithBudget(10, 'day', 2), keyCreated(3)],
    ...spent(1, '2026-11-25T10:00:00.000Z', { after: 990, key: 1 }),
  )
  t.equal(two.when(...next('2026-11-25T11:00:00.000Z', { key: 1 })).refusal, 'budget_exceeded')
  t.equal(two.when(...next('2026-11-25T11:00:00.000Z', { key: 2 })).refusal, undefined)
  t.equal(two.when(...next('2026-11-25T11:00:00.000Z', { key: 3, credits: 500 })).refusal, undefined)
})

t.test('the refund of a failed run gives back to the period of its debit alone', async t => {
  const run = spent(1, '2026-11-25T23:59:00.000Z', { after: 990 })
  const midnight = ms('2026-11-26T00:01:00.000Z')
  const debit = { ...debitFacts, keyId: keyId(1), budgetPeriod: '2026-11-25' }
  const events = [failed(1), refunded(10, { run: 1, after: 1000, debit })]
  history(keyWithBudget(15), ...run)
    .when(failRun(1))
    .then(...events)
  const after = history(
    ...[keyWithBudget(15), ...run, ...spent(2, '2026-11-26T00:00:30.000Z', { after: 980 })],
    ...[failed(1), refunded(10, { run: 1, after: 990, debit })].map(event => at(midnight, event)),
  )
  t.equal(spentAt(after, '2026-11-25T12:00:00.000Z'), 0)
  t.equal(spentAt(after, '2026-11-26T12:00:00.000Z'), 10)
  t.equal(after.when(...next('2026-11-26T00:02:00.000Z')).refusal, 'budget_exceeded')
})

t.test('a refund within the period gives back to it', async t => {
  const debit = { ...debitFacts, keyId: keyId(1), budgetPeriod: '2026-11-25' }
  const run = spent(1, '2026-11-25T10:00:00.000Z', { after: 990 })
  const whole = history(keyWithBudget(10), ...run, failed(1), refunded(10, { run: 1, after: 1000, debit }))
  t.equal(whole.when(...next('2026-11-25T11:00:00.000Z')).refusal, undefined)
  const partly = history(
    ...[keyWithBudget(10), ...run, started(1), completed(1)],
    refunded(4, { run: 1, after: 994, reason: 'it was black', debit }),
  )
  t.equal(spentAt(partly, '2026-11-25T11:00:00.000Z'), 6)
})

t.test('the refund of a revoked key gives back to no budget', async t => {
  const debit = { ...debitFacts, keyId: keyId(1), budgetPeriod: '2026-11-25' }
  const run = spent(1, '2026-11-25T10:00:00.000Z', { after: 990 })
  const gone = history(
    keyWithBudget(10),
    ...run,
    keyRevoked(1),
    failed(1),
    refunded(10, { run: 1, after: 1000, debit }),
  )
  t.equal(gone.state.activeKeys.size, 0)
  t.equal(gone.state.balanceMicros, toMicros(1000))
})

t.test('clocks that differ at midnight start no period again', async t => {
  const both = history(
    keyWithBudget(10),
    ...spent(1, '2026-11-25T23:59:59.990Z', { after: 990 }),
    ...spent(2, '2026-11-26T00:00:00.010Z', { after: 980 }),
  )
  t.equal(both.when(...next('2026-11-25T23:59:59.995Z')).refusal, 'budget_exceeded')
  t.equal(both.when(...next('2026-11-26T00:00:00.020Z')).refusal, 'budget_exceeded')
})

t.test('a clock that jumps a year ahead and is set back neither renews nor blocks a budget', async t => {
  const [debit, queued] = spent(2, '2027-11-25T10:00:00.000Z', { after: 980 })
  const [late, queuedLate] = spent(3, '2027-11-25T10:00:00.000Z', { after: 970, credits: 10 })
  const clock = '2026-11-26T10:00:00.000Z'
  const setBack = [late, queuedLate].map(
    event => ({ ...event, metadata: { ...event?.metadata, clock } }) as PastEvent<AccountEvent>,
  )
  const jumped = history(
    keyWithBudget(10),
    ...spent(1, '2026-11-25T10:00:00.000Z', { after: 990 }),
    ...([debit, queued] as PastEvent<AccountEvent>[]),
  )
  t.equal(jumped.when(...next('2026-11-25T11:00:00.000Z')).refusal, 'budget_exceeded')
  t.equal(jumped.when(...next('2026-11-26T00:00:00.000Z')).refusal, undefined)
  // `at` stays in the future, and the period is that of the clock.
  const { state } = setBack.reduce(({ state }, event) => ({ state: account.evolve(state, event) }), {
    state: jumped.state,
  })
  t.match(account.decide(next('2026-11-26T11:00:00.000Z')[0], state, ms('2026-11-26T11:00:00.000Z')), {
    refuse: { code: 'budget_exceeded' },
  })
})

t.test('the state holds a few periods, whatever the number of debits', async t => {
  const days = Array.from({ length: 200 }, (_, day) => new Date(ms('2026-01-01T00:00:00.000Z') + day * 86_400_000))
  const runs = days.flatMap((day, index) => spent(index + 1, day.toISOString(), { credits: 1, after: 999 - index }))
  const { state } = history(keyWithBudget(10), ...runs)
  t.equal(state.activeKeys.get(keyId(1))?.spent?.length, 4)
})
