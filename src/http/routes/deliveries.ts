import { DeliveriesQuery, WebhookDelivery, WebhookDeliveryList } from '../../../schemas/api/delivery.ts'
import * as examples from '../../../schemas/api/examples.ts'
import { RunAddress } from '../../../schemas/api/run.ts'
import { MAX_RESENDS } from '../../domain/account/webhook-resends.ts'
import type { Services } from '../../services/services.ts'
import { deliveryItem } from '../../services/webhooks/delivery-item.ts'
import { waitingClient } from '../disconnect.ts'
import { limitOf, showPage } from '../list-page.ts'
import { operation, type Serve } from '../operation.ts'
import { unwrap } from '../refusals.ts'

const listDeliveries = operation({
  id: 'listWebhookDeliveries',
  method: 'get',
  path: '/v1/webhooks/deliveries',
  tag: 'Webhooks',
  summary: 'List webhook deliveries, newest run first',
  description: 'Returns a page of the runs with a `webhook_url`, with the attempts to deliver the webhook of each.',
  query: DeliveriesQuery,
  responses: {
    200: {
      description: 'A page of deliveries.',
      shape: WebhookDeliveryList,
      examples: { 'First page': examples.deliveryList },
    },
  },
})

const getRunWebhook = operation({
  id: 'getRunWebhook',
  method: 'get',
  path: '/v1/runs/:id/webhook',
  tag: 'Webhooks',
  summary: 'Get the webhook delivery of a run',
  description: 'Returns whether the webhook of the run was delivered, with the attempts and when the next one is due.',
  params: { id: RunAddress },
  responses: {
    200: { description: 'The delivery.', shape: WebhookDelivery, examples: { Delivered: examples.delivery } },
  },
  errors: ['not_found'],
})

const resendRunWebhook = operation({
  id: 'resendRunWebhook',
  method: 'post',
  path: '/v1/runs/:id/webhook/resend',
  tag: 'Webhooks',
  summary: 'Send the webhook of a run again',
  description: [
    'Starts the delivery again once it has succeeded or was abandoned: the same body, with the same `webhook-id`,',
    'so a receiver that has seen it recognises it. It is retried like the first delivery.',
    `An account may do this ${MAX_RESENDS} times an hour.`,
  ].join(' '),
  params: { id: RunAddress },
  responses: {
    202: { description: 'The first attempt is due.', shape: WebhookDelivery, examples: { Pending: examples.resent } },
  },
  errors: ['not_found', 'webhook_pending'],
})

export const deliveryOperations = [listDeliveries, getRunWebhook, resendRunWebhook]

export const deliveryRoutes = (serve: Serve, { deliveries }: Services) => {
  serve(listDeliveries, async (ctx, { query }) => {
    const { caller } = ctx.state
    const page = unwrap(await deliveries.list(caller, { ...query, limit: limitOf(query) }, waitingClient(ctx)))
    ctx.body = showPage(page, deliveryItem) satisfies WebhookDeliveryList
  })

  serve(getRunWebhook, async (ctx, { params: { id } }) => {
    ctx.body = deliveryItem(unwrap(await deliveries.find(ctx.state.caller, id)))
  })

  serve(resendRunWebhook, async (ctx, { params: { id } }) => {
    ctx.body = deliveryItem(unwrap(await deliveries.resend(ctx.state.caller, id)))
    ctx.status = 202
  })
}
