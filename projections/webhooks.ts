import { accountOf } from '../schemas/recorded.ts'
import type { WebhookRow } from '../schemas/views.ts'
import type { Projection } from './projection.ts'
import { runKey } from './runs.ts'

/** What the receivers that clients named were told, by account and run. */
export const webhooks: Projection<'webhooks'> = {
  view: 'webhooks',
  keys: event => {
    const accountId = accountOf(event)
    if (!accountId) return []
    switch (event.type) {
      case 'RunQueued':
        return event.data.webhookUrl === undefined ? [] : [runKey(accountId, event.data.runId)]
      case 'RunCompleted':
      case 'RunFailed':
      case 'WebhookDelivered':
      case 'WebhookAttemptFailed':
      case 'WebhookAbandoned':
      case 'WebhookRedeliveryRequested':
        return [runKey(accountId, event.data.runId)]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    const { at } = event.metadata
    switch (event.type) {
      case 'RunQueued': {
        const accountId = accountOf(event)
        const { runId, webhookUrl: url } = event.data
        return accountId && url !== undefined ? { accountId, runId, url, status: 'waiting', attempts: 0 } : row
      }
      case 'RunCompleted':
      case 'RunFailed':
        return row && pending(row, at)
      case 'WebhookDelivered':
        return row && attempted(row, event.data, { lastAttemptAt: at, status: 'delivered' })
      case 'WebhookAttemptFailed': {
        const { reason: lastReason, nextAttemptAt } = event.data
        const next = nextAttemptAt === undefined ? {} : { nextAttemptAt }
        return row && attempted(row, event.data, { lastAttemptAt: at, lastReason, ...next })
      }
      case 'WebhookAbandoned':
        return row && { ...row, status: 'abandoned' }
      case 'WebhookRedeliveryRequested':
        return row && pending({ ...row, url: event.data.url }, at)
      default:
        return row
    }
  },
  indexes: {},
}

const pending = (row: WebhookRow, nextAttemptAt: string): WebhookRow => ({
  ...row,
  status: 'pending',
  attempts: 0,
  nextAttemptAt,
})

/** Of the attempt before, nothing is kept. */
const attempted = (
  { accountId, runId, url, status }: WebhookRow,
  { attempt: attempts, status: lastStatus }: { attempt: number; status?: number },
  change: Partial<WebhookRow>,
): WebhookRow => ({
  accountId,
  runId,
  url,
  status,
  attempts,
  ...(lastStatus !== undefined && { lastStatus }),
  ...change,
})
