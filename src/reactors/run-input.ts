import { accountStream } from '../../schemas/events.ts'
import type { WatchTask } from '../../schemas/views.ts'
import type { EventLog } from '../ports/event-log.ts'
import { Damaged } from '../ports/faults.ts'
import { eventCodec } from '../services/event-codec.ts'

type QueuedRun = Pick<WatchTask, 'accountId' | 'runId' | 'queuedRevision'>

/**
 * The input of a run, read from the event that queued it: an input may have 250 KB, and due rows are read often.
 * Rejects with Unavailable, and with Damaged if the log differs from the views.
 */
export const readRunInput = async (
  log: Pick<EventLog, 'readEvent'>,
  { accountId, runId, queuedRevision }: QueuedRun,
): Promise<Record<string, unknown>> => {
  const stream = accountStream(accountId)
  const raw = await log.readEvent(stream, queuedRevision)
  const event = raw && eventCodec.decode(raw)
  if (event?.type !== 'RunQueued' || event.data.runId !== runId)
    throw new Damaged(`${stream} does not queue ${runId} at revision ${queuedRevision}; rebuild the views`)
  return event.data.input
}
