import t from 'tap'
import { PendingWebhooks } from '../../../src/audit/account/pending-webhooks.ts'
import type { AccountRecord } from '../../../src/audit/read-log.ts'

const runId = 'run_01m820bnqkfvgrrkb8dhy3yd82'
const url = 'https://example.com/hook'
const happened = (type: string, data: object) => ({ type, data: { runId, ...data } }) as unknown as AccountRecord

const after = (...events: AccountRecord[]) => {
  const webhooks = new PendingWebhooks()
  for (const event of events) webhooks.take(event)
  return webhooks.list()
}

const queued = happened('RunQueued', { webhookUrl: url })
const failed = happened('RunFailed', {})
const nextAttemptAt = '2026-11-22T16:15:00.000Z'
const attempt = happened('WebhookAttemptFailed', { attempt: 1, status: 503, reason: 'Busy.', nextAttemptAt })
const abandoned = happened('WebhookAbandoned', { attempts: 1 })

t.test('a webhook is pending from the end of its run, completed or failed', async t => {
  t.same(after(queued), [])
  t.same(after(queued, failed), [{ runId, url, attempts: 0 }])
  t.same(after(queued, happened('RunCompleted', {})), [{ runId, url, attempts: 0 }])
  t.same(after(happened('RunQueued', {}), failed), [], 'a run without a webhook owes none')
})

t.test('a failed attempt leaves it pending, with the reason and the next attempt', async t => {
  const pending = { runId, url, attempts: 1, lastReason: 'Busy.', lastStatus: 503, nextAttemptAt }
  t.same(after(queued, failed, attempt), [pending])
  t.same(after(queued, failed, attempt, abandoned), [])
  t.same(after(queued, failed, happened('WebhookDelivered', { attempt: 1, status: 204 })), [])
})

t.test('a redelivery makes it pending again, at the new URL and from the first attempt', async t => {
  const other = 'https://example.com/other'
  const again = happened('WebhookRedeliveryRequested', { url: other })
  t.same(after(queued, failed, attempt, abandoned, again), [{ runId, url: other, attempts: 0 }])
})
