import type { Context } from './context.ts'

/** Aborts when the client has hung up, so that nobody waits for it. */
export const goneSignal = (ctx: Context): AbortSignal => {
  const gone = new AbortController()
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) gone.abort()
  })
  return gone.signal
}
