import { Webhook } from 'standardwebhooks'
import { deriveKey } from '../derive-key.ts'

export interface WebhookMessage {
  /** The result of `webhookSecret`. */
  secret: string
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
export const signWebhook = ({ secret, id, timestampSeconds, body }: WebhookMessage) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': new Webhook(secret).sign(id, new Date(timestampSeconds * 1000), body),
})

/** An account's secret is derived, so no store holds it. It is 32 bytes; the standard asks for 24 to 64. */
export const webhookSecret = (masterSecret: string, accountId: string): string =>
  `whsec_${deriveKey(masterSecret, `webhook:${accountId}`).toString('base64')}`
