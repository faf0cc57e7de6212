import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type PassedEvent } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Database } from '../lmdb/environment.ts'
import { reading, toRawEvent } from './lmdb-entry.ts'
import type { StreamIndex } from './lmdb-stream-index.ts'

/** A page ends at either limit, so that neither many events nor large events make it slow. */
const PAGE_EVENTS = 1000
const PAGE_CHARACTERS = 4 * 1024 * 1024

type Entries = Database<string, Position>

/** The databases of a log. Reads look them up for each page, since their owner may reopen the file in between. */
export interface LogFile {
  folder: string
  entries: Entries
  index: StreamIndex
}

/** The events after a position, as one read transaction sees them. */
export const readPages = (file: LogFile, after: Position): AsyncGenerator<RawEvent[]> =>
  pagesOf(file, after, (position, text) => toRawEvent(file.folder, position, text))

/** Like readPages, but skips the contents of events in other streams. */
export const skimPages = (
  file: LogFile,
  after: Position,
  isWanted: (stream: string) => boolean,
): AsyncGenerator<(RawEvent | PassedEvent)[]> =>
  pagesOf(file, after, (position, text) => {
    const stream = streamOf(text)
    return stream === undefined || isWanted(stream) ? toRawEvent(file.folder, position, text) : { stream, position }
  })

/** The stream of an entry, from its start; undefined if only parsing can find it. */
const streamOf = (text: string): string | undefined => /^\["([^"\\]+)",/.exec(text)?.[1]

async function* pagesOf<Event extends PassedEvent>(
  file: LogFile,
  after: Position,
  read: (position: Position, text: string) => Event,
): AsyncGenerator<Event[]> {
  let from = after + 1
  while (true) {
    const page = reading(file.folder, () => readPage(file.entries, from, read))
    const last = page.at(-1)
    if (!last) return
    from = last.position + 1
    yield page
  }
}

/** The event at a revision of a stream, found through the index. Throws Damaged if it is missing. */
export const readEventAt = (file: LogFile, stream: string, revision: number): RawEvent | undefined => {
  const [event] = reading(file.folder, () => {
    for (const position of file.index.positions(stream, revision)) return [readAt(file, position).event]
    return []
  })
  return event
}

/** The events of a stream from a revision on, found through the index. Throws Damaged if one is missing. */
export async function* readStreamPages(
  file: LogFile,
  stream: string,
  fromRevision: number,
): AsyncGenerator<RawEvent[]> {
  let from = fromRevision
  while (true) {
    const page = reading(file.folder, () => readStreamPage(file, stream, from))
    if (page.length === 0) return
    from += page.length
    yield page
  }
}

const readStreamPage = (file: LogFile, stream: string, from: number): RawEvent[] => {
  const page: RawEvent[] = []
  let characters = 0
  for (const position of file.index.positions(stream, from)) {
    const { event, length } = readAt(file, position)
    page.push(event)
    characters += length
    if (isFull(page.length, characters)) break
  }
  return page
}

const readAt = ({ folder, entries }: LogFile, position: Position): { event: RawEvent; length: number } => {
  const text = entries.get(position)
  if (text === undefined) throw new Damaged(`${folder}: position ${position} is missing`)
  return { event: toRawEvent(folder, position, text), length: text.length }
}

/** Whether a page of this many events and characters has reached a limit. */
const isFull = (events: number, characters: number): boolean => events >= PAGE_EVENTS || characters >= PAGE_CHARACTERS

export const lastPosition = ({ entries }: LogFile): Position => {
  for (const position of entries.getKeys({ reverse: true, limit: 1 })) return position
  return BEFORE_FIRST
}

const readPage = <Event>(
  entries: Entries,
  from: Position,
  read: (position: Position, text: string) => Event,
): Event[] => {
  const page: Event[] = []
  let characters = 0
  for (const { key, value } of entries.getRange({ start: from, limit: PAGE_EVENTS })) {
    page.push(read(key, value))
    characters += value.length
    if (isFull(page.length, characters)) break
  }
  return page
}
