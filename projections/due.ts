import { accountOf } from '../schemas/recorded.ts'
import type { DueRow } from '../schemas/views.ts'
import type { Projection, RecordedOf } from './projection.ts'

/**
 * How long after its start a run is looked after, in case its process is no more. Whoever works on it holds a lease by
 * then, so a lost run is found when this is past and its lease has run out.
 */
const WATCH_AFTER_MS = 10_000

/** What is owed to the outside world, by the time at which it is due. */
export const due: Projection<'due'> = {
  view: 'due',
  keys: event => {
    switch (event.type) {
      case 'RunQueued':
      case 'RunStarted':
      case 'RunCompleted':
      case 'RunFailed':
        return [runTask(event.data.runId)]
      default:
        return []
    }
  },
  evolve: (row, event) => {
    switch (event.type) {
      case 'RunQueued':
        return startTask(event)
      case 'RunStarted':
        return row && { ...row, task: 'watch-run', dueAt: later(event.metadata.at, WATCH_AFTER_MS) }
      case 'RunCompleted':
      case 'RunFailed':
        return undefined
      default:
        return row
    }
  },
  indexes: { byTime: (row, key) => `${row.dueAt}/${key}` },
}

/** The key of the work that is owed for a run. */
export const runTask = (runId: string) => `run/${runId}`

const startTask = (event: RecordedOf<'RunQueued'>): DueRow | undefined => {
  const accountId = accountOf(event)
  if (!accountId) return undefined
  const { runId, endpoint, provider, timeoutMs, input } = event.data
  return { task: 'start-run', dueAt: event.metadata.at, accountId, runId, endpoint, provider, timeoutMs, input }
}

const later = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString()
