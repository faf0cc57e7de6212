import { completedEvent, failedEvent } from '../../../schemas/api/examples.ts'
import { WebhookEvent, webhookHeaders } from '../../../schemas/api/webhook.ts'
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS_SPAN_MS, MAX_ATTEMPTS } from '../../domain/webhook-schedule.ts'
import type { Components } from './components.ts'

const TIMEOUT_SECONDS = ATTEMPT_TIMEOUT_MS / 1000
const SPAN_DAYS = Math.round(ATTEMPTS_SPAN_MS / (24 * 60 * 60 * 1000))

/** The webhooks that receivers get. */
export const describeWebhooks = (components: Components) => ({
  'run.completed': describe('runCompleted', 'a run completes', completedEvent, components),
  'run.failed': describe('runFailed', 'a run fails or is cancelled', failedEvent, components),
})

const describe = (operationId: string, happened: string, example: WebhookEvent, components: Components) => ({
  post: {
    operationId,
    tags: ['Webhooks'],
    summary: `Sent to webhook_url when ${happened}`,
    description: [
      'Signed as Standard Webhooks specifies.',
      `Unless the receiver returns 2xx within ${TIMEOUT_SECONDS} seconds, the service retries:`,
      `up to ${MAX_ATTEMPTS} attempts, over about ${SPAN_DAYS} days. A 410 stops the attempts.`,
    ].join(' '),
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
      '2XX': { description: 'The webhook was received.' },
      410: { description: 'The receiver is gone: the service stops its attempts.' },
    },
  },
})
