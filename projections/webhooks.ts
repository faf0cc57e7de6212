import { isAcceptance } from '../schemas/account-events.ts'
import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import { MAX_SHOWN_ATTEMPTS, type WebhookAttempt, type WebhookRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'
import { runKeys } from './runs.ts'

/** The state of each run's webhook, by account and run. */
export const webhooks = projection({
  view: 'webhooks',
  version: 3,
  key: event => {
    const isFirst = event.type === 'RunQueued' || event.type === 'RunStarted'
    return isFirst && urlOf(event) === undefined ? undefined : runKeys(event)
  },
  on: {
    RunQueued: (row, event) => accepted(row, event),
    RunStarted: (row, event) => accepted(row, event),
    RunCompleted: (row, event) => row && pending(row, clockOf(event)),
    RunFailed: (row, event) => row && pending(row, clockOf(event)),
    WebhookDelivered: (row, event) => row && { ...attempted(row, event), status: 'delivered' },
    WebhookAttemptFailed: (row, event) => row && attempted(row, event),
    WebhookAbandoned: row => row && { ...row, status: 'abandoned' },
    WebhookRedeliveryRequested: (row, event) => row && pending({ ...row, url: event.data.url }, clockOf(event)),
    RunsArchived: () => undefined,
  },
  indexes: { ofTests: ({ livemode }, key) => (livemode === false ? key : undefined) },
})

type First = RecordedOf<'RunQueued' | 'RunStarted'>

const urlOf = (event: First) => (isAcceptance(event) ? event.data.webhookUrl : undefined)

const accepted = (row: WebhookRow | undefined, event: First): WebhookRow | undefined => {
  const url = urlOf(event)
  if (!isAcceptance(event) || url === undefined) return row
  const { runId, livemode } = event.data
  const mode = livemode === false && { livemode }
  return { accountId: accountOf(event), runId, ...mode, url, status: 'waiting', attempts: 0, latest: [] }
}

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
