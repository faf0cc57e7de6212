import { type AccountId, MAX_STREAMS } from '../../../schemas/primitives.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { ApiError } from '../../transports/api-error.ts'
import type { Context } from '../context.ts'

/** Only clients that name this type get a stream: many accept anything and read JSON. */
export const asksForStream = (ctx: Context): boolean => /\btext\/event-stream\b/i.test(ctx.get('Accept'))

/** Limits the event streams of each account, because a change of a run goes to all its streams at once. */
export class Streams {
  readonly #open = new OpenCounts<AccountId>(MAX_STREAMS)

  /** Counts the response as a stream until it closes. Throws rate_limited if the account has too many. */
  open({ state, res }: Context) {
    if (this.#open.add(state.caller.accountId, res)) return
    throw new ApiError(
      'rate_limited',
      `The account already has ${MAX_STREAMS} event streams open, which is the limit. Close some of them, or poll.`,
    )
  }
}
