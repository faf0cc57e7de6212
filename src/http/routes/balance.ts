import type Router from '@koa/router'
import type { Balance } from '../../../schemas/api/balance.ts'
import { fromMicros } from '../../domain/money.ts'
import type { Reads } from '../../engine/reads.ts'
import type { Middleware, RequestState } from '../context.ts'

export const balanceRoutes = (router: Router<RequestState>, keyed: Middleware, reads: Reads) => {
  router.get('/v1/balance', keyed, async ctx => {
    const { accountId } = ctx.state.account
    const pending = reads.ownWrites(accountId)
    if (pending) await pending
    const row = await reads.get('balance', accountId)
    ctx.body = { object: 'balance', credits_balance: fromMicros(row?.balanceMicros ?? 0) } satisfies Balance
  })
}
