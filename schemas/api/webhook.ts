import { type Static, Type } from 'typebox'
import { Closed, OneOf, Timestamp } from '../primitives.ts'
import { about } from './about.ts'
import { Run } from './run.ts'

/** What a receiver is sent when a run has ended, as Standard Webhooks shapes it. The time is that of the end. */
export const WebhookEvent = Closed({
  type: OneOf('run.completed', 'run.failed'),
  timestamp: about(Timestamp, 'When the run ended.'),
  data: about(Run, 'The run, as `GET /v1/runs/{id}` shows it.'),
})
export type WebhookEvent = Static<typeof WebhookEvent>

/** With what an account's receivers check that it was us. */
export const WebhookSecret = Closed({
  object: Type.Literal('webhook_secret'),
  secret: about(
    Type.String(),
    '`whsec_` and the secret in Base64, as libraries of Standard Webhooks take it.',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ),
})
export type WebhookSecret = Static<typeof WebhookSecret>

/** Of each webhook, by Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks). */
export const webhookHeaders = {
  'webhook-id': about(Type.String(), 'The same at every attempt.', 'msg_01m7z4hp40enbs019v3tcadvdx'),
  'webhook-timestamp': about(Type.String(), 'When it was sent, in seconds since 1970.', '1795267549'),
  'webhook-signature': about(
    Type.String(),
    '`v1,` and the Base64 of an HMAC-SHA256 over id, timestamp and body, joined by dots.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
}
