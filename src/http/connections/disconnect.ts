import type { WaitingClient } from '../../services/views/newest-first.ts'
import type { Context } from '../context.ts'

/** Aborts when the client disconnects. */
export const disconnectSignal = (ctx: Context): AbortSignal => {
  const disconnected = new AbortController()
  const closed = () => {
    if (!ctx.res.writableFinished) disconnected.abort()
  }
  // The client may have disconnected already.
  if (ctx.res.destroyed) closed()
  else ctx.res.once('close', closed)
  return disconnected.signal
}

/** Cancels a run when its client has disconnected. If the run cannot be cancelled now, it continues. */
export const cancelWhen = (signal: AbortSignal, cancel: () => Promise<unknown>) =>
  signal.addEventListener('abort', () => void cancel().catch(() => undefined), { once: true })

/** The client of a request, for work that is done in turns. */
export const waitingClient = (ctx: Context): WaitingClient => ({
  nextTurn: ctx.state.nextTurn,
  signal: disconnectSignal(ctx),
})
