import { accountOf } from '../schemas/recorded.ts'
import type { DeliverTask, DueRow, StartTask, WatchTask } from '../schemas/views.ts'
import type { Projection, RecordedOf } from './projection.ts'

/**
 * How long after its start a run is looked after, in case its process is no more. Whoever works on it holds a lease by
 * then, so a lost run is found when this is past and its lease has run out.
 */
export const WATCH_AFTER_MS = 10_000

/** What is owed to the outside world for each run, by queue and by the time at which it is due. */
export const due: Projection<'due'> = {
  view: 'due',
  keys: event => {
    switch (event.type) {
      case 'RunQueued':
      case 'RunStarted':
      case 'RunSubmitted':
      case 'RunCancelRequested':
      case 'RunCompleted':
      case 'RunFailed':
      case 'WebhookDelivered':
      case 'WebhookAttemptFailed':
      case 'WebhookRedeliveryRequested':
        return [event.data.runId]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    switch (event.type) {
      case 'RunQueued':
        return start(event)
      case 'RunStarted':
        return row?.task === 'start-run' ? watch(row, event) : row
      case 'RunSubmitted':
        return row?.task === 'watch-run' ? { ...row, jobId: event.data.jobId } : row
      case 'RunCancelRequested':
        return row?.task === 'watch-run' ? cancel(row, event) : row
      case 'RunCompleted':
      case 'RunFailed':
        return isWork(row) && row.webhookUrl !== undefined ? deliver(row.webhookUrl, event) : undefined
      case 'WebhookAttemptFailed':
        return row?.task === 'deliver-webhook' ? again(row, event) : row
      case 'WebhookDelivered':
        return undefined
      case 'WebhookRedeliveryRequested':
        return deliver(event.data.url, event)
      default:
        return row
    }
  },
  indexes: { byQueue },
}

/** Where due work stands: by queue, and there by time. What is behind only keeps the places apart. */
export function byQueue(row: DueRow, key: string): string {
  return `${row.queue}/${row.dueAt}/${key}`
}

/** What the names of the queues begin with: three for each provider, one for each host to be told, two for the object store. */
export const queues = {
  start: 'start/',
  watch: 'watch/',
  cancel: 'cancel/',
  deliver: 'deliver/',
  objects: 'objects/',
} as const

const isWork = (row: DueRow | undefined): row is StartTask | WatchTask =>
  row?.task === 'start-run' || row?.task === 'watch-run'

const start = (event: RecordedOf<'RunQueued'>): DueRow | undefined => {
  const accountId = accountOf(event)
  if (!accountId) return undefined
  const { runId, endpoint, mode, provider, timeoutMs, retry, input, webhookUrl } = event.data
  return {
    task: 'start-run',
    queue: queues.start + provider,
    dueAt: event.metadata.at,
    accountId,
    runId,
    endpoint,
    mode,
    provider,
    timeoutMs,
    ...(retry && { retry }),
    input,
    ...(webhookUrl !== undefined && { webhookUrl }),
  }
}

const watch = (row: StartTask, { metadata: { at } }: RecordedOf<'RunStarted'>): DueRow => ({
  ...row,
  task: 'watch-run',
  queue: queues.watch + row.provider,
  dueAt: later(at, WATCH_AFTER_MS),
  startedAt: at,
})

/** Whoever works on it is to hear of it soon, and need not look through all that is being worked on. */
const cancel = (row: WatchTask, { metadata: { at } }: RecordedOf<'RunCancelRequested'>): DueRow => ({
  ...row,
  queue: queues.cancel + row.provider,
  dueAt: at,
  cancelRequested: true,
})

const deliver = (
  url: string,
  event: RecordedOf<'RunCompleted' | 'RunFailed' | 'WebhookRedeliveryRequested'>,
): DueRow | undefined => {
  const accountId = accountOf(event)
  if (!accountId) return undefined
  const queue = queues.deliver + hostOf(url)
  return {
    task: 'deliver-webhook',
    queue,
    dueAt: event.metadata.at,
    accountId,
    runId: event.data.runId,
    url,
    attempt: 1,
  }
}

/** Whatever stands in the log must find a place, and a place has no room for more. */
const hostOf = (url: string) => encodeURIComponent((URL.canParse(url) ? new URL(url).host : '').slice(0, 260))

const again = (row: DeliverTask, { data }: RecordedOf<'WebhookAttemptFailed'>): DueRow | undefined =>
  data.nextAttemptAt === undefined ? undefined : { ...row, dueAt: data.nextAttemptAt, attempt: data.attempt + 1 }

const later = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString()
