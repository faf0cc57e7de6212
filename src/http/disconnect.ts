import type { Context } from './context.ts'

/** Aborts when the client disconnects. */
export const disconnectSignal = (ctx: Context): AbortSignal => {
  const disconnected = new AbortController()
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) disconnected.abort()
  })
  return disconnected.signal
}
