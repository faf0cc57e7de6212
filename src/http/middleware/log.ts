import type { Next } from 'koa'
import type { Logger } from '../../ports/logger.ts'
import type { Context } from '../context.ts'

/**
 * One line a request: at `info` for what wants something done or goes wrong, at `debug` for reads that are answered.
 * Headers and query are left out, since they may hold secrets.
 */
export const log = (logger: Logger) => async (ctx: Context, next: Next) => {
  const startMs = performance.now()
  await next()
  const { requestId, account, tool, isRead = ctx.method === 'GET' || ctx.method === 'HEAD' } = ctx.state
  const level = isRead && ctx.status < 400 ? 'debug' : 'info'
  if (!logger.isLevelEnabled(level)) return
  const ms = Math.round((performance.now() - startMs) * 1000) / 1000
  const facts = {
    requestId,
    method: ctx.method,
    path: pathOf(ctx),
    status: ctx.status,
    ms,
    accountId: account?.accountId,
    tool,
  }
  logger[level](facts, 'request')
}

/** Without the query, and not parsed: a target that no path can be found in has its line too. */
const pathOf = (ctx: Context) => ctx.url.split('?', 1)[0]
