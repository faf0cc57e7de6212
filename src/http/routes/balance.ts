import { Balance } from '../../../schemas/api/balance.ts'
import * as examples from '../../../schemas/api/examples.ts'
import { TollgateSeal } from '../../../schemas/api/headers.ts'
import type { Presenter } from '../../services/presenter.ts'
import type { KnownSeals } from '../../services/seals/known-seals.ts'
import type { Services } from '../../services/services.ts'
import { nameSeal } from '../headers.ts'
import { operation, type Serve } from '../operation.ts'
import { unwrap } from '../refusals.ts'

const getBalance = operation({
  id: 'getBalance',
  method: 'get',
  path: '/v1/balance',
  tag: 'Account',
  summary: 'Get the credit balance',
  description: 'Returns the credits that are available to run models.',
  responses: {
    200: {
      description: 'The balance. It reflects all requests answered earlier.',
      shape: Balance,
      examples: { Balance: examples.balance },
      headers: { 'Tollgate-Seal': TollgateSeal },
    },
  },
})

export const balanceOperations = [getBalance]

export const balanceRoutes = (
  serve: Serve,
  { accounts }: Services,
  present: Presenter,
  knownSeals: Pick<KnownSeals, 'newest'>,
) => {
  serve(getBalance, async ctx => {
    ctx.body = present.balance(unwrap(await accounts.balance(ctx.state.caller)))
    nameSeal(ctx, knownSeals)
  })
}
