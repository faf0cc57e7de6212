import { type Static, Type } from 'typebox'
import { Closed, MAX_REFERENCE_LENGTH, OneOf, PositiveMicros, Timestamp } from './primitives.ts'
import { money } from './purchase-events.ts'

/**
 * The owner lets the service buy credits whenever runs leave less than `underMicros`: as many as `creditsMicros`, or
 * as many as bring the balance to `targetMicros`. The service charges the payment method of an earlier purchase, and at
 * most `monthlyAmount` in a calendar month in UTC. Replaces all earlier settings.
 */
export const TopUpSet = Closed({
  underMicros: PositiveMicros,
  creditsMicros: Type.Optional(PositiveMicros),
  targetMicros: Type.Optional(PositiveMicros),
  monthlyAmount: money.amount,
  currency: money.currency,
  /** The owner asks that the credits of each top-up can be used before the days for its withdrawal end. */
  beginAtOnce: Type.Optional(Type.Literal(true)),
})
export type TopUpSet = Static<typeof TopUpSet>

/** The service buys nothing by itself any more. */
export const TopUpRemoved = Closed({ reason: OneOf('owner', 'failures', 'erased') })

/** The service is to buy credits, at the time `at`. No other top-up becomes due until this one is settled. */
export const TopUpDue = Closed({ at: Timestamp })

/** `unneeded`: the account has enough credits by now, or may not run. The code says why a top-up failed. */
export const TopUpSettled = Closed({
  outcome: OneOf('paid', 'failed', 'unneeded'),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH })),
})

export const topUpEvents = { TopUpSet, TopUpRemoved, TopUpDue, TopUpSettled }
