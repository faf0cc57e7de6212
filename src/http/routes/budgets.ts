import * as api from '../../../schemas/api/budget.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { budgetItem } from '../../services/budgets/budget-item.ts'
import type { NewBudget } from '../../services/budgets/budgets.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { microsOf, placeFault } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { route } from '../route.ts'

const listBudgets = route({
  id: 'listBudgets',
  method: 'get',
  path: '/v1/budgets',
  tag: 'Budgets',
  summary: 'List budgets by name',
  description: 'Returns a page of the budgets of the account, in the order of their names, with what they have left.',
  auth: 'key or session',
  query: api.BudgetsQuery,
  responses: {
    200: { description: 'A page of budgets.', shape: api.BudgetList, examples: { 'Only page': examples.budgetList } },
  },
  serve: async (ctx, { budgets }, { query }) => {
    const page = unwrap(await budgets.page(ctx.state.caller, { ...query, limit: limitOf(query) }))
    ctx.body = showPage(page, budgetItem) satisfies api.BudgetList
  },
})

const setBudget = route({
  id: 'setBudget',
  method: 'post',
  path: '/v1/budgets',
  tag: 'Budgets',
  summary: 'Create or change a budget',
  description: [
    'Creates a budget, or changes the one with this name. A run that names a budget as its `budget` spends from it,',
    'and is refused beyond it. With other `credits`, what was spent still counts. With another `period`, the count',
    'begins anew. Needs a live key with the scope `full`.',
  ].join(' '),
  auth: 'key or session',
  json: api.NewBudget,
  examples: { 'Budget of a customer': examples.requests.newBudget },
  responses: {
    200: { description: 'The changed budget.', shape: api.NamedBudget, examples: { Budget: examples.budget } },
    201: { description: 'The new budget.', shape: api.NamedBudget, examples: { Budget: examples.newBudget } },
  },
  errors: ['rate_limited'],
  serve: async (ctx, { budgets }, { json }) => {
    const { isNew, ...budget } = unwrap(await budgets.set(ctx.state.caller, toNewBudget(json)))
    ctx.status = isNew ? 201 : 200
    ctx.body = budgetItem(budget) satisfies api.NamedBudget
  },
})

const getBudget = route({
  id: 'getBudget',
  method: 'get',
  path: '/v1/budgets/:name',
  tag: 'Budgets',
  summary: 'Get a budget',
  description: 'Returns the budget, with what it has left. Percent-encode its name in the path.',
  auth: 'key or session',
  params: { name: api.BudgetName },
  responses: { 200: { description: 'The budget.', shape: api.NamedBudget, examples: { Budget: examples.budget } } },
  errors: ['not_found'],
  serve: async (ctx, { budgets }, { params: { name } }) => {
    ctx.body = budgetItem(unwrap(await budgets.find(ctx.state.caller, name)))
  },
})

const removeBudget = route({
  id: 'removeBudget',
  method: 'delete',
  path: '/v1/budgets/:name',
  tag: 'Budgets',
  summary: 'Remove a budget',
  description: [
    'Removes the budget. Runs that were accepted with it continue, and further ones that name it are refused. A new',
    'budget of this name begins anew. Needs a live key with the scope `full`.',
  ].join(' '),
  auth: 'key or session',
  params: { name: api.BudgetName },
  responses: {
    200: {
      description: 'The budget was removed.',
      shape: api.RemovedBudget,
      examples: { Budget: examples.removedBudget },
    },
  },
  errors: ['not_found'],
  serve: async (ctx, { budgets }, { params: { name } }) => {
    unwrap(await budgets.remove(ctx.state.caller, name))
    ctx.body = { object: 'budget', name, removed: true } satisfies api.RemovedBudget
  },
})

export const budgetRoutes = [listBudgets, setBudget, getBudget, removeBudget]

/** A budget as services set it. Throws ApiError for values that no schema can refuse. */
const toNewBudget = ({ name, credits, period }: api.NewBudget): NewBudget => {
  // Clients resolve them as steps of the path.
  if (name === '.' || name === '..') throw placeFault('name', 'must not be . or ..', 'body')
  return { name, amountMicros: microsOf('credits', credits), period }
}
