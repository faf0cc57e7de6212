import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { identityOf, lmdbFile } from '../../adapters/lmdb/file.ts'
import { lastEvent, type OnProgress, upTo } from '../../audit/read-log.ts'
import { BEFORE_FIRST, type EventLog, type ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'

/** Appends to the embedded log that wait together for a commit. */
export const EMBEDDED_AT_ONCE = 1000

/** Events of one append. */
const MAX_APPENDED = 100

export interface CopyOptions {
  /**
   * Appends that wait together. The embedded log commits them in order. A server may not, and a seal holds only if the
   * copy has the order of the original.
   */
  atOnce: number
  onProgress?: OnProgress | undefined
}

/**
 * Appends the events that a copy lacks, in the order of the original, so that chains and seals hold in the copy too.
 * Continues where an earlier call ended. Resolves to the number of events appended. Throws Damaged if `to` is no
 * copy of the first part of `from`.
 */
export const copyLog = async (from: ReadableLog, to: EventLog, options: CopyOptions): Promise<number> =>
  appendAll(upTo(await from.head(), from.readAll(await copiedUpTo(from, to)), options.onProgress), to, options)

/** Appends events to a log that ends where they begin. Resolves to their number. */
export const appendAll = async (
  pages: AsyncIterable<RawEvent[]>,
  to: EventLog,
  { atOnce }: Pick<CopyOptions, 'atOnce'>,
): Promise<number> => {
  let copied = 0
  let waiting: Promise<unknown>[] = []
  for await (const page of pages)
    for (const events of appendsOf(page)) {
      const [{ stream, revision }] = events
      waiting.push(to.append(stream, events, revision - 1))
      copied += events.length
      if (waiting.length < atOnce) continue
      await Promise.all(waiting)
      waiting = []
    }
  await Promise.all(waiting)
  return copied
}

/** The position in the original of the last event of the copy. */
const copiedUpTo = async (from: ReadableLog, to: EventLog): Promise<Position> => {
  const last = await lastEvent(to)
  if (!last) return BEFORE_FIRST
  const original = await from.readEvent(last.stream, last.revision)
  if (original?.id === last.id) return original.position
  throw new Damaged(
    `<to> ends with the event ${last.id} of ${last.stream}, which <from> does not have at that place; <to> is not a ` +
      'copy of <from>, or has events after the copy',
  )
}

type Append = [RawEvent, ...RawEvent[]]

/** Joins neighbours of one stream, which saves commits. */
const appendsOf = (page: RawEvent[]): Append[] => {
  const appends: Append[] = []
  for (const event of page) {
    const last = appends.at(-1)
    if (last?.[0].stream === event.stream && last.length < MAX_APPENDED) last.push(event)
    else appends.push([event])
  }
  return appends
}

/** Whether two folders name one embedded log. */
export const isSameLog = (...folders: [string, string]): boolean => {
  const [from, to] = folders.map(folder => identityOf(lmdbFile(folder)))
  return from !== undefined && from === to
}
