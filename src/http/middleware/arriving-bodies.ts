import type { Next } from 'koa'
import {
  type AccountId,
  MAX_ARRIVING_BYTES,
  MAX_ARRIVING_BYTES_IN_ALL,
  MAX_BODY_BYTES,
  MAX_CALLBACK_BYTES,
  MAX_LONG_BODY_BYTES,
  MAX_PRESIGNED_BYTES,
} from '../../../schemas/primitives.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { Pace } from '../../flow/pace.ts'
import type { Clock } from '../../ports/clock.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { ClientAddress } from '../connections/client-address.ts'
import { networkOf } from '../connections/connections.ts'
import type { Context, Middleware } from '../context.ts'

/**
 * Limits the JSON bodies that each account is sending, because a body is in memory from its first byte until it is
 * parsed. All accounts share a limit as well. Runs after `authenticate`.
 */
export const arrivingBodies = (): Middleware => {
  const arriving = new OpenCounts<AccountId>(MAX_ARRIVING_BYTES, MAX_ARRIVING_BYTES_IN_ALL)
  return (ctx: Context, next: Next) => {
    if (!ctx.is('json')) return next()
    const { accountId } = ctx.state.caller
    const close = arriving.open(accountId, sizeOf(ctx))
    if (!close) throw arriving.isAtLimit(accountId) ? tooMany() : overloaded()
    ctx.state.bodyIsRead = close
    return next().finally(close)
  }
}

/** Only a body that is not compressed has the declared length. Others may have up to MAX_BODY_BYTES. */
export const hasDeclaredSize = (ctx: Context): boolean =>
  ctx.get('Content-Encoding') === '' && ctx.request.length !== undefined

/** The most bytes that the body may take. */
const sizeOf = (ctx: Context): number =>
  hasDeclaredSize(ctx) ? Math.min(Number(ctx.request.length), MAX_LONG_BODY_BYTES) : MAX_BODY_BYTES

const tooMany = () =>
  new ApiError(
    'rate_limited',
    `The account is already sending bodies of ${MAX_ARRIVING_BYTES} bytes, which is the limit. Send fewer at a time.`,
    {},
    { retryAfterSeconds: RETRY_SECONDS },
  )

const overloaded = () =>
  new ApiError(
    'unavailable',
    'Many clients are sending large bodies at the moment. Try again soon, or send fewer.',
    {},
    { part: 'load' },
  )

/** By then, the bodies have arrived or timed out. */
const RETRY_SECONDS = 30

/** Limits of callback bodies in memory, for one network and for all together. Providers send a few KB. */
const MAX_BYTES_PER_NETWORK = 4 * MAX_CALLBACK_BYTES
const MAX_BYTES = 16 * MAX_CALLBACK_BYTES

/** Refused callbacks that a network may send at once, and then per second: a provider's clock may be wrong. */
const REFUSED_BURST = 60
const REFUSED_PER_SECOND = 1

/** Limits the cost of callbacks until their sender is verified. */
export const arrivingCallbacks = (clientAddress: ClientAddress, clock: Clock): Middleware => {
  const arriving = new OpenCounts<string>(MAX_BYTES_PER_NETWORK, MAX_BYTES)
  const refused = new Pace({ clock, burst: REFUSED_BURST, perSecond: REFUSED_PER_SECOND })
  return async (ctx: Context, next: Next) => {
    const network = networkOf(clientAddress(ctx.req))
    if (!refused.allows(network)) throw tooManyCallbacks()
    const close = arriving.open(network, Math.min(ctx.request.length ?? MAX_CALLBACK_BYTES, MAX_CALLBACK_BYTES))
    if (!close) throw tooManyCallbacks()
    try {
      await next()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 500) refused.count(network)
      throw error
    } finally {
      close()
    }
  }
}

const tooManyCallbacks = () =>
  new ApiError('rate_limited', 'Too many callbacks of this network are arriving or were refused. Send them later.')

/**
 * Reads and discards the rest of a body after the response: a client that sends all of it before it reads the response
 * would find the connection closed. Clients that send far more are disconnected.
 */
export const unreadBody = async ({ req }: Context, next: Next) => {
  try {
    await next()
  } finally {
    let leftBytes = MAX_PRESIGNED_BYTES
    if (!req.readableEnded) {
      req.on('data', (bytes: Uint8Array) => {
        leftBytes -= bytes.byteLength
        if (leftBytes < 0) req.destroy()
      })
      // Who found the body too large has paused it.
      req.resume()
    }
  }
}
