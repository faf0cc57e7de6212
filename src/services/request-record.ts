import type { RunRow } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'

/** What the log line of a request tells besides its answer. Times are in milliseconds. */
export interface RequestRecord {
  /** The time until the body had arrived. */
  bodyMs?: number
  /** The time until the views had reached the position in the request. */
  viewsMs?: number
  /** The time of its commands: in the account's queue, and in appends. */
  appendMs?: number
  /** The time of the wait for its run. */
  runMs?: number
  run?: RunRow
}

/** Adds the time of work to a part of the record. */
export const timed = async <Value>(
  record: RequestRecord | undefined,
  part: Exclude<keyof RequestRecord, 'run'>,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
  work: Promise<Value>,
): Promise<Value> => {
  if (!record) return work
  const startMs = monotonicMs()
  try {
    return await work
  } finally {
    record[part] = (record[part] ?? 0) + monotonicMs() - startMs
  }
}
