import type { Next } from 'koa'
import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import { timed } from '../../services/request-record.ts'
import type { Services } from '../../services/services.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import { positionGiven, TOLLGATE_POSITION } from '../answers/headers.ts'
import type { Context } from '../context.ts'

/**
 * Lets a client read its own writes from every process. The response to a write carries the log position, and a request
 * with that position waits until the views have reached it. Runs after `authenticate`.
 */
export const position =
  ({ positions }: Services, clock: Clock) =>
  async (ctx: Context, next: Next) => {
    const given = positionGiven(ctx)
    if (given !== undefined) {
      const { caller, record } = ctx.state
      unwrap(await timed(record, 'viewsMs', clock, positions.wait(caller, given).catch(toApiError)))
    }
    await next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
      ctx.set(TOLLGATE_POSITION, String(unwrap(await positions.last(ctx.state.caller))))
  }

const toApiError = (error: unknown): never => {
  if (!(error instanceof Unavailable)) throw error
  throw new ApiError('unavailable', NOT_REACHED, {}, { cause: error })
}

const NOT_REACHED = [
  `The service has not reached the position in ${TOLLGATE_POSITION} in time.`,
  'Try again in a moment, or omit the header if older data will do.',
].join(' ')
