import { isAcceptance, type RunQueued } from '../schemas/account-events.ts'
import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { DeliverTask, DueRow, StartTask, WatchTask } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/**
 * How long after its start a run is checked for a lost process. A process that works on the run holds a lease by then,
 * so a lost run is found when this time has passed and its lease has expired.
 */
export const WATCH_AFTER_MS = 10_000

/** Work that is due for each run, by queue, account and time. */
export const due = projection({
  view: 'due',
  version: 5,
  key: event => event.data.runId,
  on: {
    RunQueued: (_, event) => start(event),
    RunStarted: (row, event) => {
      const waiting = isAcceptance(event) ? start(event) : row
      return waiting?.task === 'start-run' ? watch(waiting, event) : row
    },
    RunSubmitted: (row, { data }) =>
      row?.task === 'watch-run' ? { ...row, jobId: data.jobId, upstream: data.upstream } : row,
    RunCancelRequested: (row, event) => (row?.task === 'watch-run' ? cancel(row, event) : row),
    RunCompleted: (row, event) => deliverEnd(row, event),
    RunFailed: (row, event) => deliverEnd(row, event),
    WebhookAttemptFailed: (row, event) => (row?.task === 'deliver-webhook' ? retry(row, event) : row),
    WebhookDelivered: () => undefined,
    WebhookRedeliveryRequested: (_, event) => deliver(event.data.url, event),
  },
  indexes: { byQueue },
})

/** The place of due work: by queue, there by account, and there by time. The key keeps places apart. */
export function byQueue({ queue, accountId, dueAt }: DueRow, key: string): string {
  return `${queue}/${accountId}/${dueAt}/${key}`
}

/**
 * The prefixes of the queues: three queues for each endpoint, two for each webhook host, one for mail, two for the
 * object store, two for keys and lots that expire, two for the payment service.
 */
export const queues = {
  start: 'start/',
  watch: 'watch/',
  cancel: 'cancel/',
  deliver: 'deliver/',
  deliverFree: 'deliver/free/',
  objects: 'objects/',
  notices: 'notices/',
  payments: 'payments/',
} as const

const start = (event: RecordedOf<'RunQueued' | 'RunStarted'> & { data: RunQueued }): StartTask => {
  const { runId, endpoint, mode, timeoutMs, retry, webhookUrl, livemode } = event.data
  return {
    task: 'start-run',
    // Of their own, since live runs may wait for a provider that test runs do not need.
    queue: queues.start + (livemode === false ? `test/${endpoint}` : endpoint),
    dueAt: clockOf(event),
    accountId: accountOf(event),
    runId,
    ...(livemode === false && { livemode }),
    endpoint,
    mode,
    timeoutMs,
    ...(retry && { retry }),
    queuedRevision: event.revision,
    ...(webhookUrl !== undefined && { webhookUrl }),
  }
}

const watch = (row: StartTask, event: RecordedOf<'RunStarted'>): DueRow => ({
  ...row,
  task: 'watch-run',
  queue: queues.watch + row.endpoint,
  dueAt: later(clockOf(event), WATCH_AFTER_MS),
  startedAt: clockOf(event),
  upstream: event.data.upstream,
})

/** The process that works on the run finds the request in this short queue, instead of among all runs in progress. */
const cancel = (row: WatchTask, event: RecordedOf<'RunCancelRequested'>): DueRow => ({
  ...row,
  queue: queues.cancel + row.endpoint,
  dueAt: clockOf(event),
  cancelRequested: true,
})

const deliverEnd = (row: DueRow | undefined, event: RecordedOf<'RunCompleted' | 'RunFailed'>): DueRow | undefined =>
  isWork(row) && row.webhookUrl !== undefined ? deliver(row.webhookUrl, event, row.livemode) : undefined

const isWork = (row: DueRow | undefined): row is StartTask | WatchTask =>
  row?.task === 'start-run' || row?.task === 'watch-run'

/** Free deliveries have separate queues, so that their rate can be limited. */
const deliver = (
  url: string,
  event: RecordedOf<'RunCompleted' | 'RunFailed' | 'WebhookRedeliveryRequested'>,
  livemode?: false,
): DueRow => ({
  task: 'deliver-webhook',
  queue:
    (event.type === 'RunCompleted' && livemode !== false ? `${queues.deliver}charged/` : queues.deliverFree) +
    hostOf(url),
  dueAt: clockOf(event),
  accountId: accountOf(event),
  runId: event.data.runId,
  url,
  attempt: 1,
})

/** Every URL in the log must have a place in the index, and places have a limited length. */
export const hostOf = (url: string) => encodeURIComponent((URL.canParse(url) ? new URL(url).host : '').slice(0, 260))

const retry = (row: DeliverTask, { data }: RecordedOf<'WebhookAttemptFailed'>): DueRow | undefined =>
  data.nextAttemptAt === undefined ? undefined : { ...row, dueAt: data.nextAttemptAt, attempt: data.attempt + 1 }

const later = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString()
