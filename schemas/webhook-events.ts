import { type Static, Type } from 'typebox'
import { AttemptReason, Closed, HttpStatus, WebhookTestId } from './primitives.ts'

/** The secret of this generation signs from now on. Generation 0, the first, is not recorded. */
export const WebhookSecretRotated = Closed({ generation: Type.Integer({ minimum: 1 }) })

/** A test counts before it is sent, so that a crash cannot make it free. */
export const WebhookTestRequested = Closed({ testId: WebhookTestId, url: Type.String() })

/**
 * The result of a test. `status` is missing without a response, and `reason` if the receiver accepted the test. A test
 * without a result was interrupted.
 */
export const WebhookTested = Closed({
  testId: WebhookTestId,
  latencyMs: Type.Integer({ minimum: 0 }),
  status: Type.Optional(HttpStatus),
  reason: Type.Optional(AttemptReason),
})
export type WebhookTested = Static<typeof WebhookTested>
