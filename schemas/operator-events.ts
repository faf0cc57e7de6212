import { type Static, Type } from 'typebox'
import { Attempt, AttemptReason, Closed, type EventUnion, OneOf, Slug, Tagged, Timestamp } from './primitives.ts'

/** The longest name of a seal sink, which may be a path. */
export const MAX_SINK_LENGTH = 300

/** A problem that only the operator can fix. */
export const Alert = Tagged(
  'kind',
  // The provider refuses the key, or the account has no credit or quota left.
  Closed({
    kind: Type.Literal('provider_refuses'),
    provider: Slug,
    account: Type.String({ minLength: 1, maxLength: 64 }),
    reason: OneOf('unauthorized', 'out_of_quota'),
  }),
  Closed({ kind: Type.Literal('seal_sink_fails'), sink: Type.String({ minLength: 1, maxLength: MAX_SINK_LENGTH }) }),
)
export type Alert = Static<typeof Alert>

/** Counts the alerts from 1. */
const number = Type.Integer({ minimum: 1 })

/**
 * An alert started. `mail` is false if OPERATOR_EMAIL was not set, or if mail about an equal alert was pending. Mail is
 * due at once, or an hour after the last mail about an equal alert.
 */
export const OperatorNoticeRaised = Closed({ number, trouble: Alert, mail: Type.Boolean() })

/** An alert ended. If the problem returns, it is a new alert. */
export const OperatorTroubleEnded = Closed({ number })

export const OperatorNoticeDelivered = Closed({ number, attempt: Attempt })

/** `nextAttemptAt` is missing after the last attempt. */
export const OperatorNoticeAttemptFailed = Closed({
  number,
  attempt: Attempt,
  reason: AttemptReason,
  nextAttemptAt: Type.Optional(Timestamp),
})

/** No further attempts follow. */
export const OperatorNoticeAbandoned = Closed({ number, attempts: Attempt })

/** All events of the stream of alerts, by type. */
export const operatorEvents = {
  OperatorNoticeRaised,
  OperatorTroubleEnded,
  OperatorNoticeDelivered,
  OperatorNoticeAttemptFailed,
  OperatorNoticeAbandoned,
}
export type OperatorEvent = EventUnion<typeof operatorEvents>
