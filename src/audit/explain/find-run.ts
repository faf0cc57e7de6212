import { accountIn, SEALS_STREAM } from '../../../schemas/events.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { sealName } from '../../services/seals/seals.ts'
import { type OnProgress, readLog } from '../read-log.ts'
import type { NewestSeal } from '../verify/seals.ts'

export interface FoundRun {
  accountId: string
  /** The first seal that covers all events of the run so far. What it says is not checked. */
  seal: NewestSeal | undefined
}

/** The account that a run belongs to, and its seal; undefined if the log has no such run. Decodes no event. */
export const findRun = async (
  log: ReadableLog,
  runId: string,
  onProgress?: OnProgress,
): Promise<FoundRun | undefined> => {
  let accountId: string | undefined
  let seal: NewestSeal | undefined
  /** Counted as seals do, up to now and up to the newest event of the run. */
  let [events, eventsOfRun] = [0, 0]
  for await (const page of readLog(log, { onProgress }))
    for (const { stream, type, data, metadata } of page) {
      if (stream !== SEALS_STREAM) {
        events += 1
        const account = (data as { runId?: unknown } | null)?.runId === runId ? accountIn(stream) : undefined
        if (account === undefined) continue
        accountId ??= account
        eventsOfRun = events
        seal = undefined
      } else if (type === 'LogSealed' && accountId !== undefined && !seal) {
        const { number, events: covered, at } = data as LogSealed
        const { hash: link } = metadata as { hash: string }
        if (covered >= eventsOfRun) seal = { number, name: sealName(data as LogSealed), link, events: covered, at }
      }
    }
  return accountId === undefined ? undefined : { accountId, seal }
}
