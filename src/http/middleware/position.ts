import type { Next } from 'koa'
import type { Reads } from '../../engine/views/reads.ts'
import type { Accounts } from '../../services/accounts/accounts.ts'
import type { Context } from '../context.ts'
import { positionGiven, TOLLGATE_POSITION } from '../headers.ts'

/**
 * What a client has written through one process, it sees through every other: an answer to a write tells how far the log was,
 * and a request that gives this back waits until the views have come so far. It comes behind `authenticate`.
 */
export const position = (reads: Reads, accounts: Accounts) => async (ctx: Context, next: Next) => {
  const given = positionGiven(ctx)
  if (given !== undefined) await reads.passed(given)
  await next()
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
    ctx.set(TOLLGATE_POSITION, String(accounts.lastPosition(ctx.state.account.accountId)))
}
