import type { NoticeEvent } from '../../../schemas/api/notice.ts'
import type { WebhookEvent, WebhookTestEvent } from '../../../schemas/api/webhook.ts'
import { ATTEMPT_TIMEOUT_MS } from '../../domain/webhook-schedule.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Outbound, OutboundError } from '../../ports/outbound.ts'
import { signWebhook } from './webhook-signature.ts'

export interface SendDependencies {
  outbound: Outbound
  clock: Clock
}

export interface WebhookToSend {
  url: string
  id: string
  /** The secrets that sign it. */
  secrets: string[]
  event: WebhookEvent | WebhookTestEvent | NoticeEvent
}

/** The result of an attempt. `status` is missing if there was no response, and `reason` if the receiver accepted it. */
export interface SentWebhook {
  status?: number
  reason?: string
  /** The Retry-After header, unparsed. */
  retryAfter?: string | undefined
}

/** Makes one attempt to deliver a webhook (https://www.standardwebhooks.com). */
export const sendWebhook = async (
  { outbound, clock }: SendDependencies,
  { url, id, secrets, event }: WebhookToSend,
): Promise<SentWebhook> => {
  const body = JSON.stringify(event)
  const signed = signWebhook({ secrets, id, timestampSeconds: Math.floor(clock.nowMs() / 1000), body })
  const headers = { 'content-type': 'application/json', ...signed }
  try {
    const { status, retryAfter } = await outbound.post(url, { headers, body, timeoutMs: ATTEMPT_TIMEOUT_MS })
    if (status >= 200 && status < 300) return { status }
    return { status, retryAfter, reason: `The receiver answered with ${status}.` }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { reason: error.message.slice(0, 300) }
  }
}
