import { accountOf } from '../schemas/recorded.ts'
import type { RunRow } from '../schemas/views.ts'
import type { Projection, RecordedOf } from './projection.ts'

/** Runs by account in time order, which is the order of their keys, and by the client's idempotency key. */
export const runs: Projection<'runs'> = {
  view: 'runs',
  keys: event => {
    const accountId = accountOf(event)
    if (!accountId) return []
    switch (event.type) {
      case 'CreditsDebited':
      case 'CreditsRefunded':
      case 'RunQueued':
      case 'RunStarted':
      case 'RunCompleted':
      case 'RunFailed':
      case 'RunOutputDeleted':
        return [runKey(accountId, event.data.runId)]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    const known = row && { ...row, revision: event.revision }
    switch (event.type) {
      case 'CreditsDebited':
        return charged(event)
      case 'RunQueued': {
        const { mode, metadata, idempotency } = event.data
        return (
          known && {
            ...known,
            mode,
            ...(metadata && { metadata }),
            ...(idempotency && { request: { key: idempotency.key, hash: idempotency.requestHash } }),
          }
        )
      }
      case 'RunStarted':
        return known && { ...known, status: 'processing', startedAt: event.metadata.at }
      case 'RunCompleted':
        return known && { ...known, status: 'completed', completedAt: event.metadata.at, output: event.data.output }
      case 'RunFailed':
        return known && { ...known, status: 'failed', completedAt: event.metadata.at, error: event.data.error }
      case 'RunOutputDeleted':
        return known && { ...known, outputDeletedAt: event.metadata.at }
      case 'CreditsRefunded':
        return known && { ...known, refundedMicros: event.data.amountMicros }
      default:
        return row
    }
  },
  indexes: {
    byRequest: row => row.request && requestPlaces(row.accountId, row.request.key) + row.runId,
  },
}

/** A failure and its refund are one append, of which the views may for a moment have the first event only. */
export const hasEnded = ({ status, refundedMicros }: RunRow) =>
  status === 'completed' || (status === 'failed' && refundedMicros !== undefined)

/** An account's runs lie together, so that nobody finds one who does not know whose it is. */
export const runKey = (accountId: string, runId: string) => `${accountId}/${runId}`

/** What the places of the runs begin with that a client asked for under one key. The key may hold a slash itself. */
export const requestPlaces = (accountId: string, key: string) => `${accountId}/${encodeURIComponent(key)}/`

/** The debit comes first in its append, and its receipt says what the run is. */
const charged = (event: RecordedOf<'CreditsDebited'>): RunRow | undefined => {
  const accountId = accountOf(event)
  if (!accountId) return undefined
  const { runId, amountMicros, receipt } = event.data
  return {
    accountId,
    runId,
    revision: event.revision,
    status: 'queued',
    model: receipt.model,
    endpoint: receipt.endpoint,
    createdAt: event.metadata.at,
    chargedMicros: amountMicros,
  }
}
