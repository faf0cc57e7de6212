import type { Middleware } from '../context.ts'
import type { Turns } from '../turns.ts'

/** Spreads the work on requests that arrive or end at once. Health checks go first. */
export const takeTurns =
  (turns: Turns): Middleware =>
  async (ctx, next) => {
    // Unlike the path, the URL needs no parsing, which fails for some.
    if (ctx.url === '/healthz') return next()
    await turns.next()
    await next()
    await turns.next()
  }
