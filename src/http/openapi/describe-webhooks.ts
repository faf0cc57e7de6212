import { completedEvent, failedEvent, noticeEvents } from '../../../schemas/api/examples.ts'
import { NoticeEvent } from '../../../schemas/api/notice.ts'
import { WebhookEvent, webhookHeaders } from '../../../schemas/api/webhook.ts'
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS_SPAN_MS, MAX_ATTEMPTS } from '../../domain/webhook-schedule.ts'
import type { Components } from './components.ts'

const TIMEOUT_SECONDS = ATTEMPT_TIMEOUT_MS / 1000
const SPAN_DAYS = Math.round(ATTEMPTS_SPAN_MS / (24 * 60 * 60 * 1000))

/** The webhooks that receivers get. */
export const describeWebhooks = (components: Components) => ({
  'run.completed': describe('runCompleted', 'a run completes', completedEvent, components),
  'run.failed': describe('runFailed', 'a run fails or is cancelled', failedEvent, components),
  'balance.low': describe('balanceLow', 'the balance falls under the limit', noticeEvents['balance.low'], components),
  'budget.warning': describe(
    'budgetWarning',
    'a key has spent 80 % of its budget',
    noticeEvents['budget.warning'],
    components,
  ),
  'budget.exhausted': describe(
    'budgetExhausted',
    'a key has spent its whole budget',
    noticeEvents['budget.exhausted'],
    components,
  ),
  'key.expiring': describe('keyExpiring', 'a key expires within a week', noticeEvents['key.expiring'], components),
})

const describe = (
  operationId: string,
  happened: string,
  example: WebhookEvent | NoticeEvent,
  components: Components,
) => ({
  post: {
    operationId,
    tags: ['Webhooks'],
    summary: `Sent to ${'run_id' in example.data ? 'webhook_url' : 'the url of the notice settings'} when ${happened}`,
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
            allOf: [
              components.show('run_id' in example.data ? WebhookEvent : NoticeEvent),
              { type: 'object', properties: { type: { const: example.type } } },
            ],
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
