import { fromMicros } from '../../domain/money.ts'
import type { BudgetRefusals } from '../../domain/refusal.ts'
import type { RefusalTable } from './refusal-table.ts'

type Exceeded = BudgetRefusals['budget_exceeded']

export const budgets = {
  budget_exceeded: {
    api: 'budget_exceeded',
    message: facts => (facts.requiredMicros > facts.budgetMicros ? tooSmall(facts) : usedUp(facts)),
    details: ({ requiredMicros, budgetMicros, spentMicros, renewsAt, ...facts }) => ({
      required_credits: fromMicros(requiredMicros),
      ...(facts.of === 'budget' && { budget: facts.name }),
      budget_credits: fromMicros(budgetMicros),
      spent_credits: fromMicros(spentMicros),
      ...(renewsAt !== undefined && { renews_at: renewsAt }),
    }),
  },
  budget_not_found: { api: 'not_found', message: () => 'The account has no such budget.' },
  run_budget_unknown: {
    api: 'budget_not_found',
    message: ({ name }) =>
      `The account has no budget ${JSON.stringify(name)}. Create the budget first, or leave budget out.`,
    details: () => ({ errors: [{ path: '/budget', message: 'must be the name of a budget of the account' }] }),
  },
  too_many_budgets: {
    api: 'rate_limited',
    message: ({ limit }) => `The account already has ${limit} budgets, which is the limit. Remove one first.`,
  },
} satisfies RefusalTable<BudgetRefusals>

const tooSmall = ({ requiredMicros, budgetMicros, period, ...facts }: Exceeded): string =>
  [
    `The run costs ${fromMicros(requiredMicros)} credits, which is more than the whole budget`,
    `${facts.of === 'key' ? 'of this API key' : JSON.stringify(facts.name)}:`,
    `${fromMicros(budgetMicros)}${period ? ` for each ${period}` : ''}.`,
    facts.of === 'key' ? 'Use a key with a larger budget.' : RAISE,
  ].join(' ')

const usedUp = ({ requiredMicros, budgetMicros, spentMicros, period, renewsAt, ...facts }: Exceeded): string => {
  const spent = fromMicros(spentMicros)
  const when = period === undefined ? '' : ` for ${period === 'day' ? 'today' : `this ${period}`}`
  const remedy = facts.of === 'key' ? 'use a key with a larger one.' : 'raise it.'
  return [
    `The run costs ${fromMicros(requiredMicros)} credits, and`,
    facts.of === 'key'
      ? `this API key has spent ${spent} of its budget of ${fromMicros(budgetMicros)} credits${when}.`
      : `${spent} of the budget ${JSON.stringify(facts.name)} of ${fromMicros(budgetMicros)} credits${when} are spent.`,
    renewsAt === undefined ? RAISE : `Wait until the budget renews at ${renewsAt}, or ${remedy}`,
  ].join(' ')
}

const RAISE = 'Raise the budget, or choose a cheaper model or input.'
