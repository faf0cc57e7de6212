import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import { MAX_SHOWN_ATTEMPTS, type WebhookAttempt, type WebhookRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'
import { runKey } from './runs.ts'

/** The state of each run's webhook, by account and run. */
export const webhooks = projection({
  view: 'webhooks',
  version: 3,
  key: event => {
    if (event.type === 'RunQueued' && event.data.webhookUrl === undefined) return undefined
    return runKey(accountOf(event), event.data.runId)
  },
  on: {
    RunQueued: (row, event) => {
      const { runId, webhookUrl: url, livemode } = event.data
      if (url === undefined) return row
      const mode = livemode === false && { livemode }
      return { accountId: accountOf(event), runId, ...mode, url, status: 'waiting', attempts: 0, latest: [] }
    },
    RunCompleted: (row, event) => row && pending(row, clockOf(event)),
    RunFailed: (row, event) => row && pending(row, clockOf(event)),
    WebhookDelivered: (row, event) => row && { ...attempted(row, event), status: 'delivered' },
    WebhookAttemptFailed: (row, event) => row && attempted(row, event),
    WebhookAbandoned: row => row && { ...row, status: 'abandoned' },
    WebhookRedeliveryRequested: (row, event) => row && pending({ ...row, url: event.data.url }, clockOf(event)),
  },
  indexes: { ofTests: ({ livemode }, key) => (livemode === false ? key : undefined) },
})

const pending = (row: WebhookRow, nextAttemptAt: string): WebhookRow => ({
  ...row,
  status: 'pending',
  attempts: 0,
  nextAttemptAt,
})

const attempted = (
  { nextAttemptAt: _, ...row }: WebhookRow,
  event: RecordedOf<'WebhookDelivered' | 'WebhookAttemptFailed'>,
): WebhookRow => {
  const { runId: __, ...facts } = event.data
  const attempt: WebhookAttempt = { ...facts, at: clockOf(event) }
  return {
    ...row,
    attempts: attempt.attempt,
    ...(attempt.nextAttemptAt !== undefined && { nextAttemptAt: attempt.nextAttemptAt }),
    latest: [...row.latest, attempt].slice(-MAX_SHOWN_ATTEMPTS),
  }
}
