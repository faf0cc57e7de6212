import { type Static, Type } from 'typebox'
import { Closed, OneOf, Timestamp } from '../primitives.ts'
import { about } from './about.ts'
import { Livemode, Run } from './run.ts'

/** The body of a webhook, in the Standard Webhooks format. */
export const WebhookEvent = Closed({
  type: OneOf('run.completed', 'run.failed'),
  timestamp: about(Timestamp, 'When the run ended.'),
  livemode: about(Livemode, '`false` if a test key requested the run.'),
  data: about(Run, 'The run, as `GET /v1/runs/{id}` returns it.'),
})
export type WebhookEvent = Static<typeof WebhookEvent>

/** The body of the webhook that tests a receiver. */
export const WebhookTestEvent = Closed({
  type: Type.Literal('webhook.test'),
  timestamp: about(Timestamp, 'When the test was requested.'),
  livemode: about(
    Livemode,
    '`false` if a test key requested the test. The secret of test keys then signs the webhook.',
  ),
  data: Closed({
    message: about(Type.String(), 'The statement that this is a test.', 'This is a test. It concerns no run.'),
  }),
})
export type WebhookTestEvent = Static<typeof WebhookTestEvent>

/** The secret that an account's receivers verify webhooks with. */
export const WebhookSecret = Closed({
  object: Type.Literal('webhook_secret'),
  secret: about(
    Type.String(),
    '`whsec_` and the secret in Base64, as Standard Webhooks libraries expect it.',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwXqk0Sk1hSy4=',
  ),
  previous_secret_signs_until: Type.Optional(
    about(
      Timestamp,
      'After a rotation: until this time, both secrets sign each webhook, and you cannot rotate the secret again.',
    ),
  ),
})
export type WebhookSecret = Static<typeof WebhookSecret>

/** The headers of a webhook (Standard Webhooks 1.0, https://github.com/standard-webhooks/standard-webhooks). */
export const webhookHeaders = {
  'webhook-id': about(
    Type.String(),
    'The ID of the message, the same for every attempt.',
    'msg_01m7z4hp40enbs019v3tcadvdx',
  ),
  'webhook-timestamp': about(Type.String(), 'The time of the attempt, in seconds since 1970-01-01 UTC.', '1795267549'),
  'webhook-signature': about(
    Type.String(),
    [
      '`v1,` and the Base64 HMAC-SHA256 of the ID, timestamp and body, joined by dots.',
      'For 24 hours after a rotation of the secret, a space and the signature by the old secret follow.',
    ].join(' '),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
}
