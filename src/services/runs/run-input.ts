import type { RunQueued } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { eventCodec } from '../event-codec.ts'

type QueuedRun = Pick<WatchTask, 'accountId' | 'runId' | 'queuedRevision'>

/** The input of a run. Rejects like `readQueuedRun`. */
export const readRunInput = async (
  log: Pick<EventLog, 'readEvent'>,
  run: QueuedRun,
): Promise<Record<string, unknown>> => (await readQueuedRun(log, run)).input

/**
 * The event that queued a run. It holds what rows do not, since they are read often and an input may have 250 KB.
 * Rejects with Unavailable, and with Damaged if the log differs from the views.
 */
export const readQueuedRun = async (
  log: Pick<EventLog, 'readEvent'>,
  { accountId, runId, queuedRevision }: QueuedRun,
): Promise<RunQueued> => {
  const stream = accountStream(accountId)
  const raw = await log.readEvent(stream, queuedRevision)
  const event = raw && eventCodec.decode(raw)
  if (event?.type !== 'RunQueued' || event.data.runId !== runId)
    throw new Damaged(`${stream} does not queue ${runId} at revision ${queuedRevision}; rebuild the views`)
  return event.data
}
