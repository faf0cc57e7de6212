import { DeliveriesQuery, WebhookDelivery, WebhookDeliveryList } from '../../../schemas/api/delivery.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { RunAddress } from '../../../schemas/api/run.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import type { WebhookRow } from '../../../schemas/views.ts'
import { MAX_RESENDS } from '../../domain/account/webhooks.ts'
import { deliveryItem } from '../../services/webhooks/deliveries.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { unwrap } from '../../transports/refusals.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const listDeliveries = route({
  id: 'listDeliveries',
  method: 'get',
  path: '/v1/deliveries',
  tag: 'Webhooks',
  summary: 'List webhook deliveries, newest run first',
  description: 'Returns a page of the runs with a `webhook_url`, each with the attempts to deliver its webhook.',
  auth: 'key or session',
  query: DeliveriesQuery,
  responses: {
    200: {
      description: 'A page of deliveries.',
      shape: WebhookDeliveryList,
      examples: { 'First page': examples.deliveryList },
    },
  },
  serve: async (ctx, { deliveries }, { query }) => {
    const { caller } = ctx.state
    const page = unwrap(await deliveries.list(caller, { ...query, limit: limitOf(query) }, waitingClient(ctx)))
    ctx.body = showPage(page, deliveryItem) satisfies WebhookDeliveryList
  },
})

const listRunDeliveries = route({
  id: 'listRunDeliveries',
  method: 'get',
  path: '/v1/runs/:id/deliveries',
  tag: 'Webhooks',
  summary: 'List the webhook deliveries of a run',
  description: 'Returns the delivery of the run, or an empty list if the run has no `webhook_url`.',
  auth: 'key or session',
  params: { id: RunAddress },
  responses: {
    200: { description: 'The delivery.', shape: WebhookDeliveryList, examples: { Delivered: examples.deliveryList } },
  },
  errors: ['run_not_found'],
  serve: async (ctx, { deliveries }, { params: { id } }) => {
    const found = unwrap(await deliveries.ofRun(ctx.state.caller, id))
    ctx.body = showPage<WebhookRow, RunId, WebhookDelivery>({ found, next: null }, deliveryItem)
  },
})

const resendWebhook = route({
  id: 'resendWebhook',
  method: 'post',
  path: '/v1/runs/:id/deliveries',
  tag: 'Webhooks',
  summary: 'Send the webhook of a run again',
  description: [
    'Starts the delivery again after it has succeeded or was abandoned. The `webhook-id` stays the same, so that the',
    'receiver can recognize a webhook that it already has. The service retries this delivery like the first.',
    `An account may send ${MAX_RESENDS} webhooks again in an hour.`,
  ].join(' '),
  auth: 'key or session',
  params: { id: RunAddress },
  responses: {
    202: {
      description: 'The first attempt is due.',
      shape: WebhookDelivery,
      examples: { Pending: examples.resentDelivery },
    },
  },
  errors: ['run_not_found', 'not_found', 'webhook_pending'],
  serve: async (ctx, { deliveries }, { params: { id } }) => {
    ctx.body = deliveryItem(unwrap(await deliveries.resend(ctx.state.caller, id)))
    ctx.status = 202
  },
})

export const deliveryRoutes = [listDeliveries, listRunDeliveries, resendWebhook]
