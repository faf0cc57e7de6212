import { type Static, Type } from 'typebox'
import { Closed, MAX_REFERENCE_LENGTH, OneOf, PositiveMicros, Timestamp } from './primitives.ts'
import { money } from './purchase-events.ts'

/**
 * The owner lets the service buy credits when a run leaves less than `underMicros`: either `creditsMicros`, or as many
 * as bring the balance to `targetMicros`. The service charges the payment method of an earlier purchase, up to
 * `monthlyAmount` in a calendar month in UTC. Replaces all earlier settings.
 */
export const TopUpSet = Closed({
  underMicros: PositiveMicros,
  creditsMicros: Type.Optional(PositiveMicros),
  targetMicros: Type.Optional(PositiveMicros),
  monthlyAmount: money.amount,
  currency: money.currency,
  /** The owner asks for the credits of each top-up before its days for withdrawal end. */
  beginAtOnce: Type.Optional(Type.Literal(true)),
})
export type TopUpSet = Static<typeof TopUpSet>

/** Top-ups are off. */
export const TopUpRemoved = Closed({ reason: OneOf('owner', 'failures', 'erased') })

/** A top-up becomes due at the time `at`, and no other until it is settled. */
export const TopUpDue = Closed({ at: Timestamp })

/** `unneeded`: the account now has enough credits, or may not run. `code` is the reason of a failure. */
export const TopUpSettled = Closed({
  outcome: OneOf('paid', 'failed', 'unneeded'),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH })),
})

export const topUpEvents = { TopUpSet, TopUpRemoved, TopUpDue, TopUpSettled }
