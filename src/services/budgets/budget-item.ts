import type { NamedBudget } from '../../../schemas/api/budget.ts'
import { fromMicros } from '../../domain/money.ts'
import type { BudgetInfo } from './budgets.ts'

/** A named budget as the API shows it. */
export const budgetItem = ({ name, budgetMicros, spentMicros, period, renewsAt }: BudgetInfo): NamedBudget => ({
  object: 'budget',
  name,
  credits: fromMicros(budgetMicros),
  ...(period && { period }),
  spent_credits: fromMicros(spentMicros),
  credits_left: fromMicros(Math.max(0, budgetMicros - spentMicros)),
  ...(renewsAt !== undefined && { renews_at: renewsAt }),
})
