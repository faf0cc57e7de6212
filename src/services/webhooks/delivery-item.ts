import type { WebhookDelivery, WebhookTest } from '../../../schemas/api/delivery.ts'
import type { WebhookAttempt, WebhookRow } from '../../../schemas/views.ts'
import { webhookIdOf } from '../ids.ts'
import type { WebhookTestResult } from './webhook-tests.ts'

/** The delivery of a webhook as the API shows it. */
export const deliveryItem = ({ runId, livemode, url, status, nextAttemptAt, latest }: WebhookRow): WebhookDelivery => ({
  object: 'webhook_delivery',
  webhook_id: webhookIdOf(runId),
  run_id: runId,
  livemode: livemode !== false,
  url,
  status,
  ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
  attempts: latest.map(attemptItem),
})

/** The result of a test as the API shows it. */
export const testItem = ({ testId, url, status, reason, latencyMs }: WebhookTestResult): WebhookTest => ({
  object: 'webhook_test',
  webhook_id: webhookIdOf(testId),
  url,
  delivered: reason === undefined,
  ...(status !== undefined && { status_code: status }),
  latency_ms: latencyMs,
  message: reason ?? `The receiver accepted the test with ${status}.`,
})

const attemptItem = ({ attempt, at, status, reason, nextAttemptAt }: WebhookAttempt) => ({
  attempt,
  at,
  ...(status !== undefined && { status_code: status }),
  ...(reason !== undefined && { error: reason }),
  ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
})
