import type { Next } from 'koa'
import type { Position } from '../../../schemas/recorded.ts'
import type { Accounts } from '../../engine/accounts.ts'
import { ApiError } from '../../engine/api-error.ts'
import type { Reads } from '../../engine/reads.ts'
import type { Context } from '../context.ts'

const HEADER = 'Tollgate-Position'

/**
 * What a client has written through one process, it sees through every other: an answer to a write tells how far the log was,
 * and a request that gives this back waits until the views have come so far. It comes behind `authenticate`.
 */
export const position = (reads: Reads, accounts: Accounts) => async (ctx: Context, next: Next) => {
  const given = positionOf(ctx)
  if (given !== undefined) await reads.passed(given)
  await next()
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
    ctx.set(HEADER, String(accounts.lastPosition(ctx.state.account.accountId)))
}

const positionOf = (ctx: Context): Position | undefined => {
  const header = ctx.get(HEADER)
  if (header === '') return undefined
  const given = Number(header)
  if (/^-?\d+$/.test(header) && Number.isSafeInteger(given)) return given
  const message = 'must be a number that an answer gave in its Tollgate-Position'
  throw new ApiError('invalid_request', `Tollgate-Position ${message}.`, {
    errors: [{ path: '/headers/Tollgate-Position', message }],
  })
}
