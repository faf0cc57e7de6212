import { completedEvent, failedEvent } from '../../../schemas/api/examples.ts'
import { WebhookEvent, webhookHeaders } from '../../../schemas/api/webhook.ts'
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS_SPAN_MS, MAX_ATTEMPTS } from '../../domain/webhook-schedule.ts'
import type { Components } from './components.ts'

const TIMEOUT_SECONDS = ATTEMPT_TIMEOUT_MS / 1000
const SPAN_DAYS = Math.round(ATTEMPTS_SPAN_MS / (24 * 60 * 60 * 1000))

/** What receivers are told. */
export const describeWebhooks = (components: Components) => ({
  'run.completed': describe('runCompleted', 'a run has completed', completedEvent, components),
  'run.failed': describe('runFailed', 'a run has failed, or was cancelled', failedEvent, components),
})

const describe = (operationId: string, happened: string, example: WebhookEvent, components: Components) => ({
  post: {
    operationId,
    tags: ['Webhooks'],
    summary: `Sent to webhook_url when ${happened}`,
    description: `Signed by Standard Webhooks. What is not answered with 2xx within ${TIMEOUT_SECONDS} seconds is tried again: ${MAX_ATTEMPTS} attempts, over about ${SPAN_DAYS} days. 410 ends it.`,
    security: [],
    parameters: Object.entries(webhookHeaders).map(([name, shape]) =>
      components.share('parameters', name, { name, in: 'header', required: true, ...components.showParameter(shape) }),
    ),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            allOf: [components.show(WebhookEvent), { type: 'object', properties: { type: { const: example.type } } }],
          },
          examples: { [operationId]: { value: example } },
        },
      },
    },
    responses: {
      '2XX': { description: 'It was received.' },
      410: { description: 'Nothing is to be sent to this address any more.' },
    },
  },
})
