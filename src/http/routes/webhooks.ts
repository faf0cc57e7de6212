import type Router from '@koa/router'
import type { WebhookSecret } from '../../../schemas/api/webhook.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Middleware, RequestState } from '../context.ts'

export const webhookRoutes = (
  router: Router<RequestState>,
  keyed: Middleware,
  secretOf: (accountId: AccountId) => string,
) => {
  router.get('/v1/webhooks/secret', keyed, ctx => {
    const secret = secretOf(ctx.state.account.accountId)
    // Whoever stands between must not keep it.
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { object: 'webhook_secret', secret } satisfies WebhookSecret
  })
}
