import { accountIn } from '../../../schemas/events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { type OnProgress, readLog } from '../read-log.ts'

/**
 * The account that a run belongs to; undefined if the log has no such run. Only the log knows it, so this reads the log
 * up to the run's first event. It decodes none of the events.
 */
export const findAccountOf = async (
  log: ReadableLog,
  runId: string,
  onProgress?: OnProgress,
): Promise<string | undefined> => {
  for await (const page of readLog(log, { onProgress }))
    for (const { stream, data } of page) {
      const account = (data as { runId?: unknown } | null)?.runId === runId ? accountIn(stream) : undefined
      if (account !== undefined) return account
    }
  return undefined
}
