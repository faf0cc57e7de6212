import { lineKey, placeAfterTime } from '../../../projections/statement.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { StatementRow } from '../../../schemas/views.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { SCAN_ROWS } from '../newest-first.ts'
import type { Reads } from '../reads.ts'

/** A moment of an account: after the event with a revision, or at a time, which is included. */
export type AccountMoment = { revision: number } | { at: string }

/** The last line of an account at a moment; undefined if there was none yet. `pause` lets other work be done. */
export const lineAt = (
  reads: Reads,
  accountId: AccountId,
  moment: AccountMoment,
  pause: () => Promise<unknown>,
): Promise<StatementRow | undefined> =>
  'at' in moment ? lineAtTime(reads, accountId, moment.at, pause) : lineAtRevision(reads, accountId, moment.revision)

const lineAtRevision = async (reads: Reads, accountId: AccountId, revision: number) => {
  const range = { prefix: `${accountId}/`, after: lineKey(accountId, revision + 1), newestFirst: true, limit: 1 }
  return (await reads.list('statement', BY_KEY, range))[0]?.row
}

/**
 * The latest line that is not after the time. In ledger format 1, times may go back: then the lines that follow it with
 * earlier times count as well, up to the first one after the time.
 */
const lineAtTime = async (reads: Reads, accountId: AccountId, at: string, pause: () => Promise<unknown>) => {
  const prefix = `${accountId}/`
  const range = { prefix, after: placeAfterTime(accountId, at), newestFirst: true, limit: 1 }
  let last = (await reads.list('statement', 'byTime', range))[0]?.row
  for (let limit = 1; last; limit = SCAN_ROWS) {
    const after = lineKey(accountId, last.revision)
    const following = await reads.list('statement', BY_KEY, { prefix, after, limit })
    for (const { row } of following) {
      if (row.at > at) return last
      last = row
    }
    if (following.length < limit) return last
    await pause()
  }
  return undefined
}
