import type { Next } from 'koa'
import { WINDOW_SECONDS } from '../../ports/rate-counter.ts'
import type { RequestLimits } from '../../services/policies/request-limits.ts'
import { unwrap } from '../../transports/refusals.ts'
import { RATE_LIMIT, RATE_LIMIT_POLICY } from '../answers/headers.ts'
import type { Context, Middleware } from '../context.ts'

/**
 * Counts requests towards the limits of keys and accounts, and reports the limits in headers
 * (draft-ietf-httpapi-ratelimit-headers-11). Runs after `authenticate`.
 */
export const countRequests =
  (limits: Pick<RequestLimits, 'count'>): Middleware =>
  async (ctx: Context, next: Next) => {
    const { statuses, refusal } = await limits.count(ctx.state.caller)
    const policies = statuses.map(({ of, limit }) => `"${of}";q=${limit};w=${WINDOW_SECONDS}`)
    const left = statuses.flatMap(({ of, left }) =>
      left ? [`"${of}";r=${left.requests};t=${Math.ceil(left.ms / 1000)}`] : [],
    )
    if (policies.length > 0) ctx.set({ [RATE_LIMIT_POLICY]: policies.join(', '), [RATE_LIMIT]: left.join(', ') })
    if (refusal) unwrap(refusal)
    return next()
  }
