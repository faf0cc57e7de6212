import { clientOf, type RoundRobin } from '../../flow/round-robin.ts'
import type { Context, Middleware } from '../context.ts'

/**
 * Spreads the work on requests that arrive or end at once. Clients take turns, and health checks go first. A client
 * that disconnects before its turn costs no work.
 */
export const roundRobin =
  (turns: RoundRobin): Middleware =>
  async (ctx, next) => {
    ctx.state.nextTurn = () => turns.next(queueOf(ctx))
    // Unlike the path, the URL needs no parsing, which fails for some.
    if (ctx.url === '/healthz') return next()
    await turns.next(queueOf(ctx), ctx.res)
    if (ctx.res.destroyed) return
    const { turn } = turns
    await next()
    // A request that waited for nothing is answered in the turn in which it began. A stream takes no turn: its text has
    // begun to arrive, and would wait for seconds while hundreds of streams are sent.
    if (turns.turn !== turn && ctx.type !== 'text/event-stream') await ctx.state.nextTurn()
  }

/** The account of a request or, before authentication, the client. */
const queueOf = ({ state, req }: Context): string => state.caller?.accountId ?? clientOf(req)
