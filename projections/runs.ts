import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import type { RunRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/** Runs by account in time order, which is the order of their keys, and by the client's idempotency key. */
export const runs = projection({
  view: 'runs',
  version: 3,
  key: event => runKey(accountOf(event), event.data.runId),
  on: {
    // The debit comes first in its append, and its receipt says what the run is.
    CreditsDebited: (_, event) => charged(event),
    RunQueued: (row, event) => {
      const { mode, metadata, idempotency } = event.data
      return change(row, event, {
        mode,
        ...(metadata && { metadata }),
        ...(idempotency && { request: { key: idempotency.key, hash: idempotency.requestHash } }),
      })
    },
    RunStarted: (row, event) =>
      change(row, event, { status: 'processing', startedAt: clockOf(event), provider: event.data.upstream.provider }),
    RunSubmitted: (row, event) => movedTo(row, event),
    RunCompleted: (row, event) =>
      change(row, event, {
        status: 'completed',
        completedAt: clockOf(event),
        output: event.data.output,
        ...worker(event),
      }),
    RunFailed: (row, event) =>
      change(row, event, { status: 'failed', completedAt: clockOf(event), error: event.data.error, ...worker(event) }),
    RunOutputDeleted: (row, event) => change(row, event, { outputDeletedAt: clockOf(event) }),
    CreditsRefunded: (row, event) =>
      change(row, event, { refundedMicros: (row?.refundedMicros ?? 0) + event.data.amountMicros }),
  },
  indexes: {
    byRequest: row => row.request && requestPlaces(row.accountId, row.request.key) + row.runId,
  },
})

/** A failure and its refund share an append, but the views may briefly hold only the failure. */
export const hasEnded = ({ status, refundedMicros }: RunRow) =>
  status === 'completed' || (status === 'failed' && refundedMicros !== undefined)

/** An account's runs lie together, so a run is found only by those who know its account. */
export const runKey = (accountId: string, runId: string) => `${accountId}/${runId}`

/** The prefix of the places of an account's runs with one idempotency key. The key may hold a slash itself. */
export const requestPlaces = (accountId: string, key: string) => `${accountId}/${encodeURIComponent(key)}/`

/** Mostly the provider that was tried first takes the job, and then the run looks as before. */
const movedTo = (row: RunRow | undefined, event: RecordedOf<'RunSubmitted'>) => {
  const { provider } = event.data.upstream
  return row?.provider === provider ? row : change(row, event, { provider })
}

const worker = ({ data: { upstream } }: RecordedOf<'RunCompleted' | 'RunFailed'>) =>
  upstream && { provider: upstream.provider }

const change = (row: RunRow | undefined, { revision }: { revision: number }, changes: Partial<RunRow>) =>
  row && { ...row, revision, ...changes }

const charged = (event: RecordedOf<'CreditsDebited'>): RunRow => {
  const { runId, amountMicros, receipt, label } = event.data
  return {
    accountId: accountOf(event),
    runId,
    revision: event.revision,
    status: 'queued',
    model: receipt.model,
    endpoint: receipt.endpoint,
    createdAt: clockOf(event),
    chargedMicros: amountMicros,
    ...(label !== undefined && { label }),
  }
}
