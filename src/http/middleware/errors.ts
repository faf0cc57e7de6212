import type { Next } from 'koa'
import type { ErrorBody, ErrorCode } from '../../../schemas/api/error.ts'
import { ApiError } from '../../engine/api-error.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Context } from '../context.ts'

/** When to come again: what makes the service unavailable is mended in seconds, or by a person; a limit takes longer. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, string>> = { unavailable: '2', rate_limited: '60' }

/** Gives every failure the one body that errors have, and tells nobody outside what broke inside. */
export const errors = (logger: Logger) => async (ctx: Context, next: Next) => {
  try {
    await next()
    if (ctx.body === undefined || ctx.body === null) answerEmpty(ctx)
  } catch (error) {
    answer(ctx, toApiError(error, ctx, logger))
  }
}

/** What no route answered. */
const answerEmpty = (ctx: Context) => {
  if (ctx.status === 404) answer(ctx, new ApiError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.`))
  if (ctx.status === 405 || ctx.status === 501)
    answer(ctx, new ApiError('method_not_allowed', `${ctx.method} is not possible here; see the Allow header.`))
}

const answer = (ctx: Context, error: ApiError) => {
  const { code, message, details } = error
  ctx.status = error.status
  // What was known of the answer that did not come to be says nothing of this one.
  ctx.remove('ETag')
  ctx.remove('Cache-Control')
  if (code === 'invalid_api_key') ctx.set('WWW-Authenticate', 'Bearer')
  const retryAfter = RETRY_AFTER_SECONDS[code]
  if (retryAfter) ctx.set('Retry-After', retryAfter)
  ctx.body = { error: { code, message, request_id: ctx.state.requestId, ...details } } satisfies ErrorBody
}

const toApiError = (error: unknown, ctx: Context, logger: Logger): ApiError => {
  if (error instanceof ApiError) return error
  const { requestId } = ctx.state
  if (error instanceof Unavailable) {
    logger.warn({ err: error, requestId }, 'unavailable')
    return new ApiError('unavailable', 'The service cannot do this right now. Please try again in a moment.')
  }
  if (error instanceof URIError || (error as NodeJS.ErrnoException).code === 'ERR_INVALID_URL')
    return new ApiError('invalid_request', 'The address of the request cannot be read.')
  logger.error({ err: error, requestId }, 'a request broke')
  return new ApiError('internal_error', 'Something broke on our side. Please give the request_id when you report it.')
}
