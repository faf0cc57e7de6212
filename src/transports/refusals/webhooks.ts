import type { WebhookRefusals } from '../../domain/refusal.ts'
import { duration, urlFaults } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const webhooks = {
  webhook_url_invalid: {
    api: 'invalid_request',
    message: ({ parameter, fault }) => `${parameter} ${urlFaults[fault]}.`,
    details: ({ parameter, fault }) => ({ errors: [{ path: `/${parameter}`, message: urlFaults[fault] }] }),
  },
  webhook_not_found: { api: 'not_found', message: () => 'This run has no webhook_url.' },
  webhook_not_pending: { api: 'invalid_request', message: () => 'No webhook is due for this run.' },
  webhook_pending: {
    api: 'webhook_pending',
    message: () => 'The webhook of this run is already being delivered.',
  },
  too_many_resends: {
    api: 'rate_limited',
    message: ({ limit, retryAfterMs }) =>
      [
        `The account had ${limit} webhooks sent again within an hour, which is the limit.`,
        `Try again in ${duration(retryAfterMs)}, or ask the operator to deliver them.`,
      ].join(' '),
  },
  webhook_secret_rotated: {
    api: 'rate_limited',
    message: ({ retryAfterMs }) =>
      [
        'The webhook secret was already rotated within the last day.',
        `It can be rotated again in ${duration(retryAfterMs)}, when the previous one no longer signs.`,
      ].join(' '),
  },
  too_many_webhook_tests: {
    api: 'rate_limited',
    message: ({ limit, retryAfterMs }) =>
      `The account may send ${limit} webhook tests an hour. Try again in ${duration(retryAfterMs)}.`,
  },
} satisfies RefusalTable<WebhookRefusals>
