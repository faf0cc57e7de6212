import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

export interface WebhookMessage {
  /** As `webhookSecret` gives it. */
  secret: string
  /** The same for each attempt, so that a receiver knows what it has already had. */
  id: string
  /** When this attempt is made, in whole seconds since 1970. */
  timestampSeconds: number
  /** Exactly what is sent. */
  body: string
}

/**
 * The headers that prove a webhook's origin, by Standard Webhooks 1.0:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const signWebhook = ({ secret, id, timestampSeconds, body }: WebhookMessage) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': new Webhook(secret).sign(id, new Date(timestampSeconds * 1000), body),
})

/** An account's secret is derived from the service's own, and so is stored nowhere. It is 32 bytes; the standard asks for 24 to 64. */
export const webhookSecret = (masterSecret: string, accountId: string): string =>
  `whsec_${createHmac('sha256', masterSecret).update(`webhook:${accountId}`).digest('base64')}`
