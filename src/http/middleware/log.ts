import type { Next } from 'koa'
import type { Logger } from '../../ports/logger.ts'
import type { Context } from '../context.ts'

/** One line a request. Headers and query are left out, since they may hold secrets. */
export const log = (logger: Logger) => async (ctx: Context, next: Next) => {
  const startMs = performance.now()
  await next()
  const { requestId, account } = ctx.state
  const ms = Math.round((performance.now() - startMs) * 1000) / 1000
  const facts = { requestId, method: ctx.method, path: ctx.path, status: ctx.status, ms, accountId: account?.accountId }
  logger.info(facts, 'request')
}
