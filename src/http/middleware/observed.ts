import { type AnsweredRequest, CLIENT_LEFT, type Metrics } from '../../ports/metrics.ts'
import type { Tracer } from '../../ports/tracer.ts'
import type { Context, Middleware } from '../context.ts'

/** Measures and traces requests, with the time that they wait for their turn. */
export const observed =
  (metrics: Metrics | undefined, tracer: Tracer | undefined): Middleware =>
  (ctx, next) => {
    const startMs = performance.now()
    let answered: AnsweredRequest | undefined
    const begin = () => {
      answered = answerOf(ctx)
      metrics?.answered(answered, (performance.now() - startMs) / 1000)
      if (metrics && ctx.type === 'text/event-stream' && !ctx.res.destroyed)
        ctx.res.once('close', metrics.streamOpened())
      return answered
    }
    ctx.state.answerBegins = begin
    const serve = async () => {
      await next()
      return answered ?? begin()
    }
    const { requestId } = ctx.state
    return tracer ? tracer.request({ method: ctx.method, requestId, headers: ctx.headers }, serve) : serve()
  }

const answerOf = (ctx: Context): AnsweredRequest => {
  const { method, status, res, state } = ctx
  return {
    method,
    route: ctx['_matchedRoute'],
    status: res.destroyed && !res.writableEnded ? CLIENT_LEFT : status,
    unavailable: status === 503 ? (state.failedPart ?? 'other') : undefined,
  }
}
