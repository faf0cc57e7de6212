import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { MAX_BUDGETS } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import { namedBudgetAt } from '../../../src/domain/account/budgets.ts'
import type { PastEvent } from '../../../src/domain/decider.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  budgetRemoved,
  budgetSet,
  completed,
  debitFacts,
  failed,
  failRun,
  granted,
  keyId,
  keyWithBudget,
  opened,
  queueRun,
  refunded,
  removeBudget,
  setBudget,
  started,
} from '../../support/account-samples.ts'
import { at, by, given } from '../../support/given.ts'

const ms = (time: string) => Date.parse(time)
const DAY = '2026-11-25'
const noon = ms(`${DAY}T12:00:00.000Z`)

const history = (...events: (AccountEvent | PastEvent<AccountEvent>)[]) =>
  given(account, opened(), granted(1000, { after: 1000 }), ...events)

/** What a debit records of the budget `a`. */
const useOf = (number = 1, firstDay?: string) => ({ name: 'a', number, ...(firstDay !== undefined && { firstDay }) })

const runWith = (run: number, after: number, use = useOf(), credits = 10) =>
  accepted({ run, credits, after, budget: use }).map(event => at(noon, event))

const next = (run: number, credits = 10) => [queueRun({ run, credits, budget: 'a' }), noon] as const

/** What is spent of the budget `a`, in credits. */
const spentAt = ({ state }: ReturnType<typeof history>, atMs = noon) => {
  const budget = state.budgets.get('a')
  return budget && fromMicros(namedBudgetAt(budget, atMs).spentMicros)
}

t.test('a budget for once may be spent in full, and not passed', async t => {
  const half = history(budgetSet('a', 20), ...runWith(1, 990))
  half.when(...next(2)).then(...accepted({ run: 2, after: 980, budget: useOf() }))
  half.when(...next(2, 10.000001)).refused('budget_exceeded', {
    ...{ of: 'budget', name: 'a', requiredMicros: toMicros(10.000001) },
    ...{ budgetMicros: toMicros(20), spentMicros: toMicros(10) },
  })
  t.equal(half.when(queueRun({ run: 2, credits: 500 }), noon).refusal, undefined, 'other runs spend nothing of it')
  const full = history(budgetSet('a', 20), ...runWith(1, 990), ...runWith(2, 980))
  const inAYear = ms('2027-11-25T12:00:00.000Z')
  t.equal(full.when(queueRun({ run: 3, budget: 'a' }), inAYear).refusal, 'budget_exceeded')
})

t.test('the debit records the period that it counts in', async t => {
  for (const [period, firstDay] of [
    ['day', DAY],
    ['week', '2026-11-23'],
    ['month', '2026-11-01'],
  ] as const) {
    const use = useOf(1, firstDay)
    history(budgetSet('a', 10, period))
      .when(...next(1))
      .then(...accepted({ run: 1, after: 990, budget: use }))
    const full = history(budgetSet('a', 10, period), ...runWith(1, 990, use))
    t.equal(full.when(...next(2)).refusal, 'budget_exceeded')
    t.equal(full.when(queueRun({ run: 2, budget: 'a' }), ms('2026-12-07T00:00:00.000Z')).refusal, undefined)
  }
})

t.test('the refund of a failed run gives back to the period of its debit alone', async t => {
  const [before, use] = [useOf(1, '2026-11-24'), useOf(1, DAY)]
  const debit = { ...debitFacts, budget: before }
  history(budgetSet('a', 15, 'day'), ...runWith(1, 990, before))
    .when(failRun(1))
    .then(failed(1), refunded(10, { run: 1, after: 1000, debit }))
  const after = history(
    ...[budgetSet('a', 15, 'day'), ...runWith(1, 990, before), ...runWith(2, 980, use)],
    ...[failed(1), refunded(10, { run: 1, after: 990, debit })],
  )
  t.equal(spentAt(after), 10)
  t.equal(spentAt(after, noon - 86_400_000), 0)
})

t.test('a part that is refunded later gives back too', async t => {
  const debit = { ...debitFacts, budget: useOf() }
  const refund = refunded(4, { run: 1, after: 994, reason: 'it was black', debit })
  t.equal(spentAt(history(budgetSet('a', 20), ...runWith(1, 990), started(1), completed(1), refund)), 6)
})

t.test('with another amount, what was spent still counts', async t => {
  const raised = history(budgetSet('a', 10), ...runWith(1, 990))
  raised.when(setBudget('a', 15)).then(budgetSet('a', 15))
  const less = history(budgetSet('a', 20), ...runWith(1, 990), budgetSet('a', 5))
  t.equal(spentAt(less), 10)
  t.equal(less.when(...next(2, 0.000001)).refusal, 'budget_exceeded')
})

t.test(
  'with another period, or after a removal, the count begins anew, and refunds give nothing back to it',
  async t => {
    const refund = [failed(1), refunded(10, { run: 1, after: 990, debit: { ...debitFacts, budget: useOf() } })]
    for (const [change, ...events] of [
      [setBudget('a', 10, 'day'), budgetSet('a', 10, 'day', 2)],
      [setBudget('a', 10), budgetSet('a', 10, undefined, 2)],
    ] as const) {
      const isOther = change.period !== undefined
      const before = history(budgetSet('a', 10), ...runWith(1, 990), ...(isOther ? [] : [budgetRemoved('a')]))
      before.when(change).then(...events)
      const use = useOf(2, isOther ? DAY : undefined)
      const again = history(
        ...[budgetSet('a', 10), ...runWith(1, 990), ...(isOther ? [] : [budgetRemoved('a')]), ...events],
        ...runWith(2, 980, use),
        ...refund,
      )
      t.equal(spentAt(again), 10)
      t.equal(again.when(...next(3)).refusal, 'budget_exceeded')
    }
  },
)

t.test('a debit counts in the budget of its key and in its own', async t => {
  const debit = accepted({ run: 1, after: 990, budget: useOf() }).map(event => by(keyId(1), noon, event))
  const both = (own: number, ofKey: number) => history(keyWithBudget(ofKey), budgetSet('a', own), ...debit)
  const command = queueRun({ run: 2, askedWith: 1, budget: 'a' })
  t.match(both(19, 20).when(command, noon).decision, { refuse: { code: 'budget_exceeded', of: 'budget', name: 'a' } })
  t.match(both(20, 19).when(command, noon).decision, { refuse: { code: 'budget_exceeded', of: 'key' } })
  t.equal(both(20, 20).when(command, noon).refusal, undefined)
})

t.test('a run names a budget that exists', async t => {
  const none = history(budgetSet('b', 10), budgetSet('a', 10, undefined, 2), budgetRemoved('a'))
  none.when(...next(1)).refused('run_budget_unknown', { name: 'a' })
  t.equal(none.when(removeBudget('a')).refusal, 'budget_not_found')
  none.when(removeBudget('b')).then(budgetRemoved('b'))
})

t.test('an owner changes budgets as often as other settings', async t => {
  const changes = Array.from({ length: 2500 }, (_, index) => by(keyId(1), noon, budgetSet('a', index + 1)))
  const restless = history(keyWithBudget(10), ...changes)
  const command = { ...setBudget('a', 5000), keyId: keyId(1), isByOwner: true }
  t.equal(restless.when(command, noon).refusal, 'too_many_free_events')
})

t.test('the same again is no event, and names are limited in number', async t => {
  history(budgetSet('a', 10, 'day'))
    .when(setBudget('a', 10, 'day'))
    .then()
  const names = Array.from({ length: MAX_BUDGETS }, (_, index) => budgetSet(`${index}`, 1, 'day', index + 1))
  const full = history(...names)
  full.when(setBudget('one more', 1)).refused('too_many_budgets', { limit: MAX_BUDGETS })
  t.equal(full.when(setBudget('0', 2, 'day')).refusal, undefined)
})
