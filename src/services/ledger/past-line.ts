import { lineKey, placeAfterTime } from '../../../projections/statement.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { StatementRow } from '../../../schemas/views.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { Reads } from '../views/reads.ts'

/** A moment of an account: after the event with a revision, or at a time, inclusive. */
export type AccountMoment = { revision: number } | { at: string }

interface Dependencies {
  reads: Reads
  log: Pick<EventLog, 'readEvent' | 'readStream'>
  /** Lets other work run. */
  pause(): Promise<unknown>
}

/** An account's last line at a moment, the same as `tollgate audit replay --at` shows; undefined if there was none. */
export const lineAt = async (
  dependencies: Dependencies,
  accountId: AccountId,
  moment: AccountMoment,
): Promise<StatementRow | undefined> => {
  if ('revision' in moment) return lineAtRevision(dependencies, accountId, moment.revision)
  // Times go back only in format 1, and format 1 never follows a later format.
  const first = await dependencies.log.readEvent(accountStream(accountId), 0)
  if (first && isFormat1(first))
    return lineAtRevision(dependencies, accountId, await lastRevisionAt(dependencies, accountId, moment.at))
  const range = { prefix: `${accountId}/`, after: placeAfterTime(accountId, moment.at), newestFirst: true, limit: 1 }
  return (await dependencies.reads.list('statement', 'byTime', range))[0]?.row
}

const lineAtRevision = async ({ reads }: Dependencies, accountId: AccountId, revision: number) => {
  const range = { prefix: `${accountId}/`, after: lineKey(accountId, revision + 1), newestFirst: true, limit: 1 }
  return (await reads.list('statement', BY_KEY, range))[0]?.row
}

const isFormat1 = ({ metadata }: RawEvent): boolean => (metadata as { format?: number }).format === undefined

/** An event with an earlier time than a previous event counts as if it had the previous event's time. */
const lastRevisionAt = async ({ log, pause }: Dependencies, accountId: AccountId, at: string): Promise<number> => {
  let last = -1
  for await (const page of log.readStream(accountStream(accountId), 0)) {
    for (const { revision, metadata } of page) {
      if ((metadata as { at: string }).at > at) return last
      last = revision
    }
    await pause()
  }
  return last
}
