import { runKey } from '../../projections/runs.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { RunRow, RunStatus } from '../../schemas/views.ts'
import { BY_KEY } from '../ports/view-store.ts'
import type { Reads } from './reads.ts'

/** Rows looked at for one page of a filtered list, so that a rare status cannot make a request read a whole history. */
const MAX_SCANNED = 2000
/** The largest limit, and the one row more that shows that there is more. */
const SCAN_PAGE = 101

export interface RunsFilter {
  limit: number
  /** The last run of the page before. */
  cursor?: RunId | undefined
  status?: RunStatus | undefined
  model?: string | undefined
}

/** A page of an account's runs, the newest first. `next` is the cursor of the following page, or null at the end. */
export const listRuns = async (
  reads: Reads,
  accountId: AccountId,
  { limit, cursor, status, model }: RunsFilter,
): Promise<{ found: RunRow[]; next: RunId | null }> => {
  await reads.ownWrites(accountId)
  const prefix = runKey(accountId, '')
  const found: RunRow[] = []
  let last = cursor
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_PAGE) {
    const after = last && runKey(accountId, last)
    const entries = await reads.list('runs', BY_KEY, { prefix, after, newestFirst: true, limit: SCAN_PAGE })
    for (const { row } of entries) {
      last = row.runId
      if ((status && row.status !== status) || (model && row.model !== model)) continue
      // One more than asked for shows that there is more.
      if (found.length === limit) return { found, next: found.at(-1)?.runId ?? null }
      found.push(row)
    }
    if (entries.length < SCAN_PAGE) return { found, next: null }
  }
  return { found, next: last ?? null }
}
