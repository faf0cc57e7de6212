import type { WaitingClient } from '../../services/views/newest-first.ts'
import type { Context } from '../context.ts'

/** Aborts when the client disconnects. */
export const disconnectSignal = (ctx: Context): AbortSignal => {
  const disconnected = new AbortController()
  const closed = () => {
    if (!ctx.res.writableFinished) disconnected.abort()
  }
  // The client may have left before.
  if (ctx.res.destroyed) closed()
  else ctx.res.once('close', closed)
  return disconnected.signal
}

/** The client, as one that waits for work to be done in turn. */
export const waitingClient = (ctx: Context): WaitingClient => ({
  nextTurn: ctx.state.nextTurn,
  signal: disconnectSignal(ctx),
})
