import { type Static, Type } from 'typebox'
import { BUDGET_PERIODS } from '../account-events.ts'
import { Closed, Label, MAX_GRANT_MICROS, MAX_LABEL_LENGTH, OneOf } from '../primitives.ts'
import { about } from './about.ts'
import { Timestamp } from './common.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'

/** Runs name their budgets, and a budget may stand for a customer of the account, as a label may. */
export const BudgetName = about(
  Label,
  `The name of the budget, in 1 to ${MAX_LABEL_LENGTH} printable characters, such as a task or a customer.`,
  'customer 17',
)

const budget = {
  name: BudgetName,
  credits: about(
    Type.Number({ exclusiveMinimum: 0, maximum: MAX_GRANT_MICROS / 1_000_000 }),
    'The credits that runs with this budget may spend in each period, with up to six decimals.',
    50,
  ),
  period: Type.Optional(
    about(
      OneOf(...BUDGET_PERIODS),
      'The calendar period of the budget, in UTC. Weeks begin on Monday. Without a period, the credits are for once.',
    ),
  ),
}

export const NewBudget = Closed(budget)
export type NewBudget = Static<typeof NewBudget>

export const NamedBudget = Closed({
  object: Type.Literal('budget'),
  ...budget,
  spent_credits: about(Type.Number(), 'The credits that its runs have cost in this period, less refunds.', 12.5),
  credits_left: about(
    Type.Number(),
    'The credits that its runs may still spend in this period. 0 if the budget was set to less than was spent.',
    37.5,
  ),
  renews_at: Type.Optional(
    about(Timestamp, 'When the next period begins. Absent without a period.', '2026-12-01T00:00:00.000Z'),
  ),
})
export type NamedBudget = Static<typeof NamedBudget>

export const BudgetsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(Label)),
})

/** A page of budgets, in the order of their names. */
const { data, ...page } = ListOf(NamedBudget, Label).properties
export const BudgetList = Closed({ ...page, data: about(data, 'The budgets, in the order of their names.') })
export type BudgetList = Static<typeof BudgetList>

export const RemovedBudget = Closed({
  object: Type.Literal('budget'),
  name: BudgetName,
  removed: Type.Literal(true),
})
export type RemovedBudget = Static<typeof RemovedBudget>
