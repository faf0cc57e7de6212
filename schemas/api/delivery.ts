import { type Static, Type } from 'typebox'
import { Closed, RunId as RunIdShape, Url } from '../primitives.ts'
import { MAX_SHOWN_ATTEMPTS, WebhookStatus } from '../views.ts'
import { about } from './about.ts'
import { RunId, Timestamp } from './common.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'
import { Livemode } from './run.ts'

const WebhookId = about(
  Type.String(),
  'The `webhook-id` header, the same in all attempts.',
  'msg_01m7z4hp40enbs019v3tcadvdx',
)

const StatusCode = about(Type.Integer(), 'The HTTP status of the response. Absent if there was no response.', 503)

export const DeliveryStatus = about(
  WebhookStatus,
  [
    '`waiting`: the run has not ended. `pending`: an attempt is due at `next_attempt_at`.',
    '`delivered`: the receiver accepted the webhook. `abandoned`: the last attempt failed.',
  ].join(' '),
)

export const WebhookAttempt = Closed({
  attempt: about(
    Type.Integer(),
    'The number of the attempt. Counting restarts at 1 when the webhook is sent again.',
    1,
  ),
  at: about(Timestamp, 'When the result was recorded.'),
  status_code: Type.Optional(StatusCode),
  error: Type.Optional(
    about(
      Type.String(),
      'Why the attempt failed. Absent if the receiver accepted the webhook.',
      'The receiver answered with 503.',
    ),
  ),
  next_attempt_at: Type.Optional(about(Timestamp, 'When the next attempt was due. Absent for the last attempt.')),
})

/** The webhook of a run, and the attempts to deliver it. */
export const WebhookDelivery = Closed({
  object: Type.Literal('webhook_delivery'),
  webhook_id: WebhookId,
  run_id: RunId,
  livemode: Livemode,
  url: about(Url, 'The URL of the receiver.', 'https://example.com/hooks/tollgate'),
  status: DeliveryStatus,
  next_attempt_at: Type.Optional(about(Timestamp, 'When the next attempt is due. Present only while `pending`.')),
  attempts: about(Type.Array(WebhookAttempt), `The latest ${MAX_SHOWN_ATTEMPTS} attempts, oldest first.`),
})
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveryList = ListOf(WebhookDelivery, RunId)
export type WebhookDeliveryList = Static<typeof WebhookDeliveryList>

export const DeliveriesQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(RunIdShape)),
  status: Type.Optional(about(WebhookStatus, 'Only deliveries with this status.')),
})
export type DeliveriesQuery = Static<typeof DeliveriesQuery>

export const WebhookTestRequest = Closed({
  url: about(
    Type.String({ minLength: 1, maxLength: 2048, format: 'uri' }),
    'The http(s) URL that receives the test.',
    'https://example.com/hooks/tollgate',
  ),
})
export type WebhookTestRequest = Static<typeof WebhookTestRequest>

/** The result of a test. */
export const WebhookTest = Closed({
  object: Type.Literal('webhook_test'),
  webhook_id: WebhookId,
  url: about(Url, 'The URL of the receiver.', 'https://example.com/hooks/tollgate'),
  delivered: about(Type.Boolean(), 'Whether the receiver accepted the test with a 2xx status.'),
  status_code: Type.Optional(StatusCode),
  latency_ms: about(Type.Integer(), 'The duration of the attempt in milliseconds.', 87),
  message: about(Type.String(), 'The result in words.', 'The receiver accepted the test with 204.'),
})
export type WebhookTest = Static<typeof WebhookTest>
