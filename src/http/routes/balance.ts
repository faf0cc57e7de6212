import { Balance } from '../../../schemas/api/balance.ts'
import * as examples from '../../../schemas/api/examples.ts'
import type { Reads } from '../../engine/views/reads.ts'
import type { Presenter } from '../../services/runs/present.ts'
import { operation, type Serve } from '../operation.ts'

const getBalance = operation({
  id: 'getBalance',
  method: 'get',
  path: '/v1/balance',
  tag: 'Account',
  summary: 'The credits that are left',
  answers: {
    200: {
      description: 'The balance, after every request that was answered before.',
      shape: Balance,
      examples: { 'A balance': examples.balance },
    },
  },
})

export const balanceOperations = [getBalance]

export const balanceRoutes = (serve: Serve, reads: Reads, present: Presenter) => {
  serve(getBalance, async ctx => {
    const { accountId } = ctx.state.account
    ctx.body = present.balance(await reads.getOwn(accountId, 'balance', accountId))
  })
}
