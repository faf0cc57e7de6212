import type { Context, Middleware } from '../context.ts'
import type { Turns } from '../turns.ts'

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
    await ctx.state.nextTurn()
    if (ctx.res.destroyed) return
    await next()
    await ctx.state.nextTurn()
  }

/** The account of a request; before it is known, the key, or the address of a client without one. */
const laneOf = ({ state, req }: Context): string =>
  state.caller?.accountId ?? req.headers.authorization ?? req.socket.remoteAddress ?? ''
