import type { Next } from 'koa'
import {
  type AccountId,
  MAX_ARRIVING_BYTES,
  MAX_ARRIVING_BYTES_IN_ALL,
  MAX_BODY_BYTES,
} from '../../../schemas/primitives.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { Context, Middleware } from '../context.ts'

/**
 * Limits the JSON bodies that each account is sending, because they are in memory until they have arrived in full and
 * it is their turn to be parsed. Many accounts share what all may send. Runs after `authenticate`.
 */
export const arrivingBodies = (): Middleware => {
  const arriving = new OpenCounts<AccountId>(MAX_ARRIVING_BYTES, MAX_ARRIVING_BYTES_IN_ALL)
  return async (ctx: Context, next: Next) => {
    if (!ctx.is('json')) return next()
    const { accountId } = ctx.state.caller
    const close = arriving.open(accountId, sizeOf(ctx))
    if (!close) throw arriving.isAtLimit(accountId) ? tooMany() : overloaded()
    ctx.state.bodyIsRead = close
    return next().finally(close)
  }
}

/** The most bytes that the body may take. Only a body that is not compressed has the declared length. */
const sizeOf = (ctx: Context): number => {
  const declared = ctx.get('Content-Encoding') === '' ? ctx.request.length : undefined
  return Math.min(declared ?? MAX_BODY_BYTES, MAX_BODY_BYTES)
}

const tooMany = () =>
  new ApiError(
    'rate_limited',
    `The account is already sending bodies of ${MAX_ARRIVING_BYTES} bytes, which is the limit. Send fewer at a time.`,
    {},
    { retryAfterSeconds: RETRY_SECONDS },
  )

const overloaded = () =>
  new ApiError('unavailable', 'Many clients are sending large bodies at the moment. Try again soon, or send fewer.')

/** By then, the bodies have arrived or were given up. */
const RETRY_SECONDS = 30
