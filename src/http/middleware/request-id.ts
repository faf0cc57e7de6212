import { randomUUID } from 'node:crypto'
import type { Next } from 'koa'
import { REQUEST_ID } from '../../../schemas/primitives.ts'
import type { Context } from '../context.ts'

const WELL_FORMED = new RegExp(`^${REQUEST_ID}$`)

/** Sets the request id: the client's own if it is well formed, so that both sides' logs can be joined. */
export const requestId = (ctx: Context, next: Next) => {
  const given = ctx.get('X-Request-Id')
  ctx.state.requestId = WELL_FORMED.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', ctx.state.requestId)
  return next()
}
