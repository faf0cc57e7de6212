import { Webhook } from 'standardwebhooks'

export interface WebhookMessage {
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
