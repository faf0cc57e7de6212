import { Webhook } from 'standardwebhooks'
import type { NoticeEvent } from '../../../schemas/api/notice.ts'
import type { WebhookEvent, WebhookTestEvent } from '../../../schemas/api/webhook.ts'
import type { AccountId, Moded } from '../../../schemas/primitives.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { signingGenerations } from '../../domain/account/webhooks.ts'
import { ATTEMPT_TIMEOUT_MS } from '../../domain/webhook-schedule.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Outbound, OutboundError } from '../../ports/outbound.ts'
import { deriveKey } from '../derive-key.ts'

export interface SendDependencies {
  outbound: Outbound
  clock: Clock
}

interface WebhookToSend {
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

interface WebhookMessage {
  /** The secrets of the account that sign now. A receiver accepts the message if it knows one of them. */
  secrets: string[]
  /** The same for each attempt, so that a receiver recognises repeats. */
  id: string
  /** The time of this attempt, in whole seconds since 1970. */
  timestampSeconds: number
  /** The exact body that is sent. */
  body: string
}

/**
 * The headers that prove a webhook's origin, by Standard Webhooks 1.0:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const signWebhook = ({ secrets, id, timestampSeconds, body }: WebhookMessage) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets
    .map(secret => new Webhook(secret).sign(id, new Date(timestampSeconds * 1000), body))
    .join(' '),
})

/** The secrets that sign an account's webhooks of one mode at a time in ms since 1970, the newest first. */
export type WebhookSecrets = (accountId: AccountId, state: AccountState, nowMs: number, mode: Moded) => string[]

export const webhookSecrets =
  (masterSecret: string): WebhookSecrets =>
  (accountId, state, nowMs, { livemode }) =>
    livemode === false
      ? [secretFor(masterSecret, `webhook-test:${accountId}`)]
      : signingGenerations(state, nowMs).map(generation => webhookSecret(masterSecret, accountId, generation))

/** The secret of an account's live webhooks. */
export const webhookSecret = (masterSecret: string, accountId: string, generation = 0): string => {
  // The first secret is from before there were rotations.
  const purpose = generation === 0 ? `webhook:${accountId}` : `webhook:${accountId}:${generation}`
  return secretFor(masterSecret, purpose)
}

/** Secrets are derived, so no store holds them. They are 32 bytes; the standard asks for 24 to 64. */
const secretFor = (masterSecret: string, purpose: string): string =>
  `whsec_${deriveKey(masterSecret, purpose).toString('base64')}`
