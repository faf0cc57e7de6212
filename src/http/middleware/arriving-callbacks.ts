import type { Next } from 'koa'
import { MAX_CALLBACK_BYTES } from '../../../schemas/primitives.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { Pace } from '../../flow/pace.ts'
import type { Clock } from '../../ports/clock.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { ClientAddress } from '../connections/client-address.ts'
import { networkOf } from '../connections/connections.ts'
import type { Context, Middleware } from '../context.ts'

/** Bodies of callbacks in memory, of one network and in all. Those of providers have a few KB. */
const MAX_BYTES_PER_NETWORK = 4 * MAX_CALLBACK_BYTES
const MAX_BYTES = 16 * MAX_CALLBACK_BYTES

/** Refused callbacks of a network at once, and after that in each second. Providers' clocks and secrets may be off. */
const REFUSED_BURST = 60
const REFUSED_PER_SECOND = 1

/** Bounds what callbacks cost before it is known who has sent them. */
export const arrivingCallbacks = (clientAddress: ClientAddress, clock: Clock): Middleware => {
  const arriving = new OpenCounts<string>(MAX_BYTES_PER_NETWORK, MAX_BYTES)
  const refused = new Pace({ clock, burst: REFUSED_BURST, perSecond: REFUSED_PER_SECOND })
  return async (ctx: Context, next: Next) => {
    const network = networkOf(clientAddress(ctx.req))
    if (!refused.allows(network)) throw tooMany()
    const close = arriving.open(network, Math.min(ctx.request.length ?? MAX_CALLBACK_BYTES, MAX_CALLBACK_BYTES))
    if (!close) throw tooMany()
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

const tooMany = () =>
  new ApiError('rate_limited', 'Too many callbacks of this network are arriving or were refused. Send them later.')
