import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { WebhookRow } from '../schemas/views.ts'
import { projection } from './define.ts'
import { runKey } from './runs.ts'

/** The state of each run's webhook, by account and run. */
export const webhooks = projection({
  view: 'webhooks',
  version: 2,
  key: event => {
    if (event.type === 'RunQueued' && event.data.webhookUrl === undefined) return undefined
    return runKey(accountOf(event), event.data.runId)
  },
  on: {
    RunQueued: (row, event) => {
      const { runId, webhookUrl: url, livemode } = event.data
      if (url === undefined) return row
      const mode = livemode === false && { livemode }
      return { accountId: accountOf(event), runId, ...mode, url, status: 'waiting', attempts: 0 }
    },
    RunCompleted: (row, event) => row && pending(row, clockOf(event)),
    RunFailed: (row, event) => row && pending(row, clockOf(event)),
    WebhookDelivered: (row, event) =>
      row && attempted(row, event.data, { lastAttemptAt: clockOf(event), status: 'delivered' }),
    WebhookAttemptFailed: (row, event) => {
      const { reason: lastReason, nextAttemptAt } = event.data
      const next = nextAttemptAt === undefined ? {} : { nextAttemptAt }
      return row && attempted(row, event.data, { lastAttemptAt: clockOf(event), lastReason, ...next })
    },
    WebhookAbandoned: row => row && { ...row, status: 'abandoned' },
    WebhookRedeliveryRequested: (row, event) => row && pending({ ...row, url: event.data.url }, clockOf(event)),
  },
})

const pending = (row: WebhookRow, nextAttemptAt: string): WebhookRow => ({
  ...row,
  status: 'pending',
  attempts: 0,
  nextAttemptAt,
})

/** Drops the fields of the previous attempt. */
const attempted = (
  { accountId, runId, livemode, url, status }: WebhookRow,
  { attempt: attempts, status: lastStatus }: { attempt: number; status?: number },
  changes: Partial<WebhookRow>,
): WebhookRow => ({
  accountId,
  runId,
  ...(livemode === false && { livemode }),
  url,
  status,
  attempts,
  ...(lastStatus !== undefined && { lastStatus }),
  ...changes,
})
