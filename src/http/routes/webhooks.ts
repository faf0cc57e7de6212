import { webhookSecret } from '../../../schemas/api/examples.ts'
import { CacheControl } from '../../../schemas/api/headers.ts'
import { WebhookSecret } from '../../../schemas/api/webhook.ts'
import type { Services } from '../../services/services.ts'
import { operation, type Serve } from '../operation.ts'
import { unwrap } from '../refusals.ts'

const getWebhookSecret = operation({
  id: 'getWebhookSecret',
  method: 'get',
  path: '/v1/webhooks/secret',
  tag: 'Webhooks',
  summary: 'Get the webhook signing secret',
  description: 'Verify the signature of each webhook with this secret, as Standard Webhooks specifies.',
  responses: {
    200: {
      description: 'The secret of the account.',
      shape: WebhookSecret,
      examples: { Secret: webhookSecret },
      headers: { 'Cache-Control': CacheControl },
    },
  },
})

export const webhookOperations = [getWebhookSecret]

export const webhookRoutes = (serve: Serve, { webhooks }: Services) => {
  serve(getWebhookSecret, async ctx => {
    const secret = unwrap(await webhooks.secret(ctx.state.caller))
    // No cache may keep it.
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { object: 'webhook_secret', secret } satisfies WebhookSecret
  })
}
