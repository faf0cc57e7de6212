import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { NoticeEvent } from '../../../schemas/api/notice.ts'
import { WebhookEvent, WebhookTestEvent, webhookHeaders } from '../../../schemas/api/webhook.ts'
import { ATTEMPT_TIMEOUT_MS, ATTEMPTS_SPAN_MS, MAX_ATTEMPTS } from '../../domain/webhook-schedule.ts'
import type { Components } from './components.ts'

const TIMEOUT_SECONDS = ATTEMPT_TIMEOUT_MS / 1000
const SPAN_DAYS = Math.round(ATTEMPTS_SPAN_MS / (24 * 60 * 60 * 1000))

/** The webhooks that receivers get. */
export const describeWebhooks = (components: Components) => ({
  'run.completed': describeRun('runCompleted', 'a run completes', examples.webhooks['run.completed'], components),
  'run.failed': describeRun('runFailed', 'a run fails or is cancelled', examples.webhooks['run.failed'], components),
  'balance.low': describeNotice('balanceLow', 'the balance drops below the limit', 'balance.low', components),
  'budget.warning': describeNotice('budgetWarning', 'a key has spent 80 % of its budget', 'budget.warning', components),
  'budget.exhausted': describeNotice('budgetExhausted', 'a key has spent its budget', 'budget.exhausted', components),
  'key.expiring': describeNotice('keyExpiring', 'a key expires within a week', 'key.expiring', components),
  'credits.expiring': describeNotice('creditsExpiring', 'credits expire soon', 'credits.expiring', components),
  'top_up.stopped': describeNotice('topUpStopped', 'automatic top-ups were turned off', 'top_up.stopped', components),
  'model.retiring': describeNotice('modelRetiring', 'a model in use retires soon', 'model.retiring', components),
  'withdrawal.received': describeNotice(
    'withdrawalReceived',
    'the owner withdraws from a purchase',
    'withdrawal.received',
    components,
  ),
  'webhook.test': describe(
    {
      operationId: 'webhookTested',
      summary: 'Sent when you test a webhook',
      description: 'Sent once to the URL of `POST /v1/webhooks/test`. Signed as Standard Webhooks specifies.',
      schema: components.show(WebhookTestEvent),
      example: examples.webhooks['webhook.test'],
    },
    components,
  ),
})

const describeRun = (operationId: string, happened: string, example: { type: string }, components: Components) =>
  describeRetried(
    { operationId, summary: `Sent to webhook_url when ${happened}`, schema: components.show(WebhookEvent), example },
    components,
  )

const describeNotice = (operationId: string, happened: string, type: NoticeEvent['type'], components: Components) =>
  describeRetried(
    {
      operationId,
      summary: `Sent to the url of the notice settings when ${happened}`,
      schema: components.show(NoticeEvent),
      example: examples.webhooks[type],
    },
    components,
  )

interface Message {
  operationId: string
  summary: string
  description: string
  schema: unknown
  example: { type: string }
}

const describeRetried = ({ schema, ...message }: Omit<Message, 'description'>, components: Components) => {
  const { post } = describe(
    {
      ...message,
      description: [
        'Signed as Standard Webhooks specifies.',
        `Unless the receiver returns 2xx within ${TIMEOUT_SECONDS} seconds, the service retries:`,
        `up to ${MAX_ATTEMPTS} attempts, over about ${SPAN_DAYS} days. A 410 stops the attempts.`,
      ].join(' '),
      schema: { allOf: [schema, { type: 'object', properties: { type: { const: message.example.type } } }] },
    },
    components,
  )
  const gone = { description: 'The receiver is gone: the service stops its attempts.' }
  return { post: { ...post, responses: { ...post.responses, 410: gone } } }
}

const describe = ({ operationId, summary, description, schema, example }: Message, components: Components) => ({
  post: {
    ...{ operationId, tags: ['Webhooks'], summary, description },
    security: [],
    parameters: Object.entries(webhookHeaders).map(([name, shape]) =>
      components.share('parameters', name, { name, in: 'header', required: true, ...components.showParameter(shape) }),
    ),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, examples: { [operationId]: { value: example } } } },
    },
    responses: { '2XX': { description: 'The webhook was received.' } },
  },
})
