import type { Next } from 'koa'
import type { ErrorCode } from '../../../schemas/api/error.ts'
import type { Logger } from '../../ports/logger.ts'
import { ApiError, toApiError } from '../../transports/api-error.ts'
import { originForm } from '../connections/request-target.ts'
import type { Context } from '../context.ts'

/** When to retry, unless the error says so: a service usually recovers within seconds; limits take longer. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = { unavailable: 2, rate_limited: 60 }

/** Turns every failure into the API's error body, without internal details. */
export const errors = (logger: Logger) => async (ctx: Context, next: Next) => {
  try {
    ctx.url = originForm(ctx.url)
    await next()
    if (ctx.body === undefined || ctx.body === null) answerEmpty(ctx)
  } catch (error) {
    answer(ctx, toApiError(error, logger, { requestId: ctx.state.requestId }))
  }
  // After an owner signs out, the browser must keep nothing of the account.
  if (ctx.state.caller?.kind === 'session') ctx.set('Cache-Control', 'private, no-store')
}

/** Answers requests that no route handled. */
const answerEmpty = (ctx: Context) => {
  if (ctx.status === 404)
    answer(ctx, new ApiError('not_found', `No route matches ${ctx.method} ${ctx.path}. GET /docs shows all routes.`))
  if (ctx.status === 405 || ctx.status === 501)
    answer(ctx, new ApiError('method_not_allowed', `${ctx.method} is not allowed here; see the Allow header.`))
}

const answer = (ctx: Context, error: ApiError) => {
  const { code } = error
  ctx.status = error.status
  ctx.state.failedPart = error.part
  // The ETag belonged to the response that failed.
  ctx.remove('ETag')
  ctx.set('Cache-Control', 'private, no-store')
  if (code === 'invalid_api_key') ctx.set('WWW-Authenticate', 'Bearer')
  const { retryAfterSeconds = RETRY_AFTER_SECONDS[code] } = error
  if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds))
  ctx.body = (ctx.state.toClientsForm?.(error) ?? error).toBody(ctx.state.requestId)
}
