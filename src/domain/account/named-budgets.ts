import type { AccountEvent } from '../../../schemas/account-events.ts'
import { MAX_BUDGETS } from '../../../schemas/primitives.ts'
import { accept, type PastEvent } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { RemoveBudget, SetBudget } from './commands.ts'
import { writeRefusal } from './keys.ts'
import { areSame } from './limits.ts'
import type { AccountState } from './state.ts'

/**
 * Creates a budget, or changes it. With another amount, what was spent still counts. With another period the count
 * begins anew, under a new number, so that refunds of earlier debits give nothing back to it.
 */
export const setBudget = (
  { keyId, name, amountMicros, period }: SetBudget,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(keyId, state, atMs)
  if (refusal) return refusal
  const before = state.budgets.get(name)
  if (!before && state.budgets.size >= MAX_BUDGETS) return refuse('too_many_budgets', { limit: MAX_BUDGETS })
  const budget = { amountMicros, ...(period && { period }) }
  if (before && areSame(before.budget, budget)) return accept([])
  const number = before && before.budget.period === period ? before.number : state.budgetsNumbered + 1
  return accept([{ type: 'BudgetSet', data: { name, number, ...budget } }])
}

export const removeBudget = (
  { keyId, name }: RemoveBudget,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(keyId, state, atMs)
  if (refusal) return refusal
  return state.budgets.has(name) ? accept([{ type: 'BudgetRemoved', data: { name } }]) : refuse('budget_not_found')
}

/** The state after a budget was set. */
export const keepBudget = (
  state: AccountState,
  { data: { name, number, ...budget } }: PastEvent<Extract<AccountEvent, { type: 'BudgetSet' }>>,
): AccountState => {
  const before = state.budgets.get(name)
  const spent = before?.number === number && before.spent ? { spent: before.spent } : {}
  return {
    ...state,
    budgets: state.budgets.set(name, { number, budget, ...spent }),
    budgetsNumbered: Math.max(state.budgetsNumbered, number),
  }
}
