import { fold } from '../../../projections/define.ts'
import { runKey, runs } from '../../../projections/runs.ts'
import { linesOfRun } from '../../../projections/statement.ts'
import { MAX_CHARGE_LINES } from '../../../schemas/api/charge.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../event-codec.ts'
import type { Reads } from '../views/reads.ts'

export interface RunRowDependencies {
  reads: Reads
  log: Pick<EventLog, 'readEvent'>
}

/**
 * The row of a run after all of this process's writes for its account. That of an archived run is made again from its
 * events. Rejects with Unavailable.
 */
export const readRunRow = async (
  { reads, log }: RunRowDependencies,
  accountId: AccountId,
  runId: RunId,
): Promise<RunRow | undefined> => {
  const key = runKey(accountId, runId)
  const row = await reads.getOwn(accountId, 'runs', key)
  if (row) return row
  const archived = await reads.get('archivedRuns', key)
  if (!archived) return undefined
  // Refunds may have followed.
  const lines = await reads.list('statement', 'byRun', {
    prefix: linesOfRun(accountId, runId),
    limit: MAX_CHARGE_LINES,
  })
  const revisions = new Set([...archived.revisions, ...lines.map(line => line.row.revision)])
  const stream = accountStream(accountId)
  const found = await Promise.all([...revisions].sort((a, b) => a - b).map(each => log.readEvent(stream, each)))
  const events = found.flatMap(raw => (raw ? eventCodec.decode(raw) : []))
  const isWhole =
    events.length === revisions.size && events.every(({ data }) => 'runId' in data && data.runId === runId)
  if (!isWhole) throw new Damaged(`${stream} lacks events of ${runId}; rebuild the views`)
  return fold(runs, events) as RunRow
}
