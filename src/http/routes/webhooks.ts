import { webhookSecret } from '../../../schemas/api/examples.ts'
import { CacheControl } from '../../../schemas/api/headers.ts'
import { WebhookSecret } from '../../../schemas/api/webhook.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { operation, type Serve } from '../operation.ts'

const getWebhookSecret = operation({
  id: 'getWebhookSecret',
  method: 'get',
  path: '/v1/webhooks/secret',
  tag: 'Webhooks',
  summary: 'The secret that webhooks are signed with',
  description: 'By Standard Webhooks: check each webhook by it before you believe what it says.',
  answers: {
    200: {
      description: 'The secret of the account.',
      shape: WebhookSecret,
      examples: { 'A secret': webhookSecret },
      headers: { 'Cache-Control': CacheControl },
    },
  },
})

export const webhookOperations = [getWebhookSecret]

export const webhookRoutes = (serve: Serve, secretOf: (accountId: AccountId) => string) => {
  serve(getWebhookSecret, ctx => {
    const secret = secretOf(ctx.state.account.accountId)
    // Whoever stands between must not keep it.
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { object: 'webhook_secret', secret } satisfies WebhookSecret
  })
}
