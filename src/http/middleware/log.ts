import { randomUUID } from 'node:crypto'
import type { Next } from 'koa'
import { REQUEST_ID } from '../../../schemas/primitives.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ClientAddress } from '../connections/client-address.ts'
import { type Context, isRead } from '../context.ts'

/**
 * Logs one line per request: at `debug` for successful reads, else at `info`. Headers and query are left out, since
 * they may contain secrets.
 */
export const log = (logger: Logger, clientAddress: ClientAddress) => async (ctx: Context, next: Next) => {
  const startMs = performance.now()
  await next()
  const { requestId, caller, auditor, tool } = ctx.state
  const level = isRead(ctx) && ctx.status < 400 ? 'debug' : 'info'
  if (!logger.isLevelEnabled(level)) return
  const ms = Math.round((performance.now() - startMs) * 1000) / 1000
  const facts = {
    requestId,
    method: ctx.method,
    path: pathOf(ctx),
    status: ctx.status,
    ms,
    client: clientAddress(ctx.req),
    accountId: caller?.accountId,
    auditorId: auditor?.auditorId,
    tool,
  }
  logger[level](facts, 'request')
}

/** The path without the query. It is not parsed, so that malformed targets are logged too. */
const pathOf = (ctx: Context) => ctx.url.split('?', 1)[0]

const WELL_FORMED = new RegExp(`^${REQUEST_ID}$`)

/** Sets the request id: the client's own if it is well formed, so that both sides' logs can be joined. */
export const requestId = (ctx: Context, next: Next) => {
  const given = ctx.get('X-Request-Id')
  ctx.state.requestId = WELL_FORMED.test(given) ? given : randomUUID()
  ctx.res.setHeader('X-Request-Id', ctx.state.requestId)
  return next()
}
