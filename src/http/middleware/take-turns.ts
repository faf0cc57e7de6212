import { clientOf, type Turns } from '../../flow/turns.ts'
import type { Context, Middleware } from '../context.ts'

/**
 * Spreads the work on requests that arrive or end at once. Clients take turns, and health checks go first. Nothing is
 * done for a client that has left before its turn.
 */
export const takeTurns =
  (turns: Turns): Middleware =>
  async (ctx, next) => {
    ctx.state.nextTurn = () => turns.next(laneOf(ctx))
    // Unlike the path, the URL needs no parsing, which fails for some.
    if (ctx.url === '/healthz') return next()
    await turns.next(laneOf(ctx), ctx.res)
    if (ctx.res.destroyed) return
    await next()
    await ctx.state.nextTurn()
  }

/** The account of a request, and before it is known, the client as it shows itself. */
const laneOf = ({ state, req }: Context): string => state.caller?.accountId ?? clientOf(req)
