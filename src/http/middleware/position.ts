import type { Next } from 'koa'
import type { Services } from '../../services/services.ts'
import type { Context } from '../context.ts'
import { positionGiven, TOLLGATE_POSITION } from '../headers.ts'
import { unwrap } from '../refusals.ts'

/**
 * Lets a client read from every process what it wrote through one: the response to a write carries the log position,
 * and a request that sends it back waits until the views have passed it. Runs after `authenticate`.
 */
export const position =
  ({ positions }: Services) =>
  async (ctx: Context, next: Next) => {
    const given = positionGiven(ctx)
    if (given !== undefined) unwrap(await positions.wait(ctx.state.caller, given))
    await next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
      ctx.set(TOLLGATE_POSITION, String(unwrap(await positions.last(ctx.state.caller))))
  }
