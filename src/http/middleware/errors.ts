import type { Next } from 'koa'
import type { ErrorCode } from '../../../schemas/api/error.ts'
import type { Logger } from '../../ports/logger.ts'
import { ApiError, toApiError } from '../../services/api-error.ts'
import type { Context } from '../context.ts'

/** When to come again: what makes the service unavailable is mended in seconds, or by a person; a limit takes longer. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, string>> = { unavailable: '2', rate_limited: '60' }

/** Gives every failure the one body that errors have, and tells nobody outside what broke inside. */
export const errors = (logger: Logger) => async (ctx: Context, next: Next) => {
  try {
    await next()
    if (ctx.body === undefined || ctx.body === null) answerEmpty(ctx)
  } catch (error) {
    answer(
      ctx,
      isUnreadable(error, ctx.req.url) ? unreadable() : toApiError(error, logger, { requestId: ctx.state.requestId }),
    )
  }
}

/** What no route answered. */
const answerEmpty = (ctx: Context) => {
  if (ctx.status === 404) answer(ctx, new ApiError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.`))
  if (ctx.status === 405 || ctx.status === 501)
    answer(ctx, new ApiError('method_not_allowed', `${ctx.method} is not possible here; see the Allow header.`))
}

const answer = (ctx: Context, error: ApiError) => {
  const { code } = error
  ctx.status = error.status
  // What was known of the answer that did not come to be says nothing of this one.
  ctx.remove('ETag')
  ctx.remove('Cache-Control')
  if (code === 'invalid_api_key') ctx.set('WWW-Authenticate', 'Bearer')
  const retryAfter = RETRY_AFTER_SECONDS[code]
  if (retryAfter) ctx.set('Retry-After', retryAfter)
  ctx.body = error.toBody(ctx.state.requestId)
}

/** An address whose escapes or form no router can read. One that is not the request's own is no fault of the client. */
const isUnreadable = (error: unknown, url: string | undefined) => {
  const { code, input } = error as { code?: unknown; input?: unknown }
  return error instanceof URIError || (code === 'ERR_INVALID_URL' && input === url)
}

const unreadable = () => new ApiError('invalid_request', 'The address of the request cannot be read.')
