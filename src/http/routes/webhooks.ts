import { WebhookTest, WebhookTestRequest } from '../../../schemas/api/delivery.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { CacheControl } from '../../../schemas/api/headers.ts'
import { WebhookSecret } from '../../../schemas/api/webhook.ts'
import { MAX_TESTS } from '../../domain/account/webhooks.ts'
import { ATTEMPT_TIMEOUT_MS } from '../../domain/webhook-schedule.ts'
import { testItem } from '../../services/webhooks/deliveries.ts'
import type { SigningSecret } from '../../services/webhooks/webhooks.ts'
import { unwrap } from '../../transports/refusals.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'

const getWebhookSecret = route({
  id: 'getWebhookSecret',
  method: 'get',
  path: '/v1/webhooks/secret',
  tag: 'Webhooks',
  summary: 'Get the webhook signing secret',
  description: 'Verify the signature of each webhook with this secret, as Standard Webhooks specifies.',
  auth: 'key or session',
  responses: {
    200: {
      description: 'The secret of the account.',
      shape: WebhookSecret,
      examples: { Secret: examples.webhookSecret },
      headers: { 'Cache-Control': CacheControl },
    },
  },
  serve: async (ctx, { webhooks }) => answerSecret(ctx, unwrap(await webhooks.secret(ctx.state.caller))),
})

const rotateWebhookSecret = route({
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/v1/webhooks/secret/rotate',
  tag: 'Webhooks',
  summary: 'Rotate the webhook signing secret',
  description: [
    'Makes a new secret. For 24 hours, each webhook has a second signature by the previous secret,',
    'so that receivers keep working while you give them the new secret. During this time, you cannot rotate it again.',
  ].join(' '),
  auth: 'key or session',
  responses: {
    200: {
      description: 'The new secret.',
      shape: WebhookSecret,
      examples: { 'New secret': examples.rotatedSecret },
      headers: { 'Cache-Control': CacheControl },
    },
  },
  serve: async (ctx, { webhooks }) => {
    const { caller } = ctx.state
    answerSecret(ctx, unwrap(await webhooks.rotateSecret(caller, caller.accountId)))
  },
})

const testWebhook = route({
  id: 'testWebhook',
  method: 'post',
  path: '/v1/webhooks/test',
  tag: 'Webhooks',
  summary: 'Send a test webhook',
  description: [
    'Sends the event `webhook.test` to the URL, signed like all webhooks, and returns the result.',
    `The service makes one attempt of at most ${ATTEMPT_TIMEOUT_MS / 1000} seconds.`,
    `An account may send ${MAX_TESTS} tests an hour.`,
  ].join(' '),
  auth: 'key or session',
  json: WebhookTestRequest,
  examples: { Receiver: examples.requests.webhookTest },
  responses: {
    200: {
      description: 'The result, whether or not the receiver accepted the test.',
      shape: WebhookTest,
      examples: { Accepted: examples.webhookTest, Failed: examples.failedWebhookTest },
    },
  },
  errors: ['invalid_input'],
  serve: async (ctx, { webhookTests }, { json: { url } }) => {
    ctx.body = testItem(unwrap(await webhookTests.send(ctx.state.caller, url)))
  },
})

export const webhookRoutes = [getWebhookSecret, rotateWebhookSecret, testWebhook]

const answerSecret = (ctx: Context, { secret, previousUntil }: SigningSecret) => {
  // No cache may keep the secret.
  ctx.set('Cache-Control', 'no-store')
  ctx.body = {
    object: 'webhook_secret',
    secret,
    ...(previousUntil !== undefined && { previous_secret_signs_until: previousUntil }),
  } satisfies WebhookSecret
}
