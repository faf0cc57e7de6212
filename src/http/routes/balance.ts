import { Balance } from '../../../schemas/api/balance.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { TollgateSeal } from '../../../schemas/api/headers.ts'
import { BalanceQuery } from '../../../schemas/api/ledger.ts'
import { momentOf } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { nameSeal } from '../answers/headers.ts'
import { route } from '../route.ts'

const getBalance = route({
  id: 'getBalance',
  method: 'get',
  path: '/v1/balance',
  tag: 'Account',
  summary: 'Get the credit balance',
  description: 'Returns the credits that are available to run models, or that were available at the time `at`.',
  auth: 'key or session',
  query: BalanceQuery,
  responses: {
    200: {
      description: 'The balance. It includes all requests that the service answered earlier.',
      shape: Balance,
      examples: { Balance: examples.balance },
      headers: { 'Tollgate-Seal': TollgateSeal },
    },
  },
  serve: async (ctx, { accounts, ledger, present, knownSeals }, { query: { at } }) => {
    const { caller } = ctx.state
    const found = at === undefined ? accounts.balance(caller) : ledger.balanceAt(caller, momentOf('at', at))
    ctx.body = present.balance(unwrap(await found))
    nameSeal(ctx, knownSeals)
  },
})

export const balanceRoutes = [getBalance]
