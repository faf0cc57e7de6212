import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import {
  type Appended,
  BEFORE_FIRST,
  type EventLog,
  type NewEvent,
  NO_STREAM,
  RevisionConflict,
} from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { type Database, freeRoomGuard, openLmdb } from '../lmdb.ts'

/** A page ends at so many events or characters, so that neither small nor large events make it slow or heavy. */
const PAGE_EVENTS = 1000
const PAGE_CHARACTERS = 4 * 1024 * 1024

/** How soon the appends of another process are noticed; those of this process are at once. */
const POLL_MS = 100

/** Appends that may wait for a commit. One takes about a kilobyte; past this the log is not keeping up. */
const MAX_WAITING = 50_000

/** Streams whose end is remembered: a lookup spared for each append to an active account. */
const REMEMBERED_HEADS = 50_000

/** Events at the end of the log that are looked through when it is opened, since damage is likeliest there. */
const TAIL_EVENTS = 100

// A stream's number and an event's revision share one integer key: 2^26 streams of 2^27 events each.
const MAX_STREAMS = 2 ** 26
const MAX_REVISIONS = 2 ** 27

/** A stream as the writer knows it. */
interface Head {
  number: number
  revision: number
}

interface Waiting {
  stream: string
  events: NewEvent[]
  expectedRevision: number
  resolve(appended: Appended): void
  reject(error: Error): void
}

/** What stands in the log for an event; its key is the position. */
type Entry = [id: string, stream: string, revision: number, type: string, data: unknown, metadata: unknown]

/**
 * The event log in one LMDB folder, for any number of processes on one machine.
 * All appends that wait go to the disk in one commit. After a failed commit nobody can know what is on the disk, so
 * `die` must end the process; the next start reads what is there.
 */
export const openLmdbEventLog = (folder: string, die: (error: Error) => void): EventLog => {
  const root = openLmdb(folder, { durable: true })
  const entries = root.openDB<string, number>('entries', { encoding: 'string' })
  const numbers = root.openDB<number, string>('streams', {})
  const places = root.openDB<number, number>('places', {})
  checkTail(folder, entries)

  const ensureRoom = freeRoomGuard(folder)
  const heads = new LRUCache<string, Head>({ max: REMEMBERED_HEADS })
  const changed = new Signal()
  let lastWritten: Position | undefined
  let waiting: Waiting[] = []
  let committing = false

  const lastPosition = (): Position => {
    for (const position of entries.getKeys({ reverse: true, limit: 1 })) return position
    return BEFORE_FIRST
  }

  const findHead = (stream: string): Head | undefined => {
    const number = numbers.get(stream)
    if (number === undefined) return undefined
    for (const place of places.getKeys({
      start: placeOf(number + 1, 0) - 1,
      end: placeOf(number, 0) - 1,
      reverse: true,
      limit: 1,
    }))
      return { number, revision: place - placeOf(number, 0) }
    throw new Damaged(`${folder}: the stream ${stream} has a number but no events`)
  }

  const addStream = (stream: string): Head => {
    const number = numbers.getCount()
    if (number >= MAX_STREAMS) throw new Error(`the log is full: it has ${MAX_STREAMS} streams`)
    numbers.put(stream, number)
    return { number, revision: NO_STREAM }
  }

  /** Runs inside the write transaction, where no other process can write. */
  const write = (batch: Waiting[]): (Appended | RevisionConflict)[] => {
    let position = lastPosition()
    if (position !== lastWritten) heads.clear()
    const outcomes = batch.map(({ stream, events, expectedRevision }) => {
      const known = heads.get(stream) ?? findHead(stream)
      const revision = known?.revision ?? NO_STREAM
      if (revision !== expectedRevision) return new RevisionConflict(stream, expectedRevision)
      const head = known ?? addStream(stream)
      if (head.revision + events.length >= MAX_REVISIONS) throw new Error(`the stream ${stream} is full`)
      for (const { id, type, data, metadata } of events) {
        const entry: Entry = [id, stream, ++head.revision, type, data, metadata]
        entries.put(++position, JSON.stringify(entry))
        places.put(placeOf(head.number, head.revision), position)
      }
      heads.set(stream, head)
      return { revision: head.revision, position }
    })
    lastWritten = position
    return outcomes
  }

  const commitWaiting = async () => {
    committing = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        ensureRoom()
      } catch (error) {
        for (const append of batch) append.reject(error as Error)
        continue
      }
      try {
        const outcomes = await root.transaction(() => write(batch))
        batch.forEach((append, index) => {
          const outcome = outcomes[index] as Appended | RevisionConflict
          if (outcome instanceof RevisionConflict) append.reject(outcome)
          else append.resolve(outcome)
        })
      } catch (error) {
        die(error as Error)
        for (const append of batch) append.reject(error as Error)
      }
      changed.notify()
    }
    committing = false
  }

  const readPage = (from: Position): RawEvent[] => {
    const page: RawEvent[] = []
    let characters = 0
    for (const { key, value } of entries.getRange({ start: from, limit: PAGE_EVENTS })) {
      page.push(toRawEvent(key, value))
      characters += value.length
      if (characters >= PAGE_CHARACTERS) break
    }
    return page
  }

  async function* readAll(after: Position): AsyncGenerator<RawEvent[]> {
    let from = after + 1
    while (true) {
      const page = readPage(from)
      if (page.length === 0) return
      from = (page.at(-1) as RawEvent).position + 1
      yield page
    }
  }

  return {
    append: (stream, events, expectedRevision) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= MAX_WAITING) return reject(new Unavailable('too many appends wait for the event log'))
        waiting.push({ stream, events, expectedRevision, resolve, reject })
        // The commit begins after the present turn, so that all that is asked for in this turn is in it.
        if (!committing) {
          committing = true
          setImmediate(commitWaiting)
        }
      }),

    async *readStream(stream, fromRevision) {
      root.resetReadTxn()
      const number = numbers.get(stream)
      if (number === undefined) return
      let revision = fromRevision
      while (true) {
        const range = { start: placeOf(number, revision), end: placeOf(number + 1, 0), limit: PAGE_EVENTS }
        const page: RawEvent[] = []
        let characters = 0
        for (const { value: position } of places.getRange(range)) {
          const entry = entries.get(position)
          if (entry === undefined) throw new Damaged(`${folder}: position ${position} is missing`)
          page.push(toRawEvent(position, entry))
          characters += entry.length
          if (characters >= PAGE_CHARACTERS) break
        }
        if (page.length === 0) return
        revision += page.length
        yield page
      }
    },

    readAll: (after) => {
      root.resetReadTxn()
      return readAll(after)
    },

    async *follow(after, signal) {
      let from = after
      while (!signal.aborted) {
        const news = changed.wait(POLL_MS, signal)
        root.resetReadTxn()
        for await (const page of readAll(from)) {
          from = (page.at(-1) as RawEvent).position
          yield page
          if (signal.aborted) return
        }
        await news
      }
    },

    head: async () => {
      root.resetReadTxn()
      return lastPosition()
    },

    close: async () => {
      while (committing) await delay(1)
      await root.close()
    },
  }
}

const placeOf = (number: number, revision: number): number => number * MAX_REVISIONS + revision

const toRawEvent = (position: Position, text: string): RawEvent => {
  const [id, stream, revision, type, data, metadata] = JSON.parse(text) as Entry
  return { id, stream, revision, position, type, data, metadata }
}

const checkTail = (folder: string, entries: Database<string, number>) => {
  let next: Position | undefined
  try {
    for (const { key, value } of entries.getRange({ reverse: true, limit: TAIL_EVENTS })) {
      toRawEvent(key, value)
      if (next !== undefined && key !== next - 1) throw new Error(`position ${next - 1} is missing`)
      next = key
    }
  } catch (error) {
    throw new Damaged(`the event log in ${folder} is damaged (${(error as Error).message}); restore it from a backup`)
  }
}

/** Wakes those who wait for the next change. */
class Signal {
  #waiters = new Set<() => void>()

  notify() {
    for (const wake of this.#waiters) wake()
  }

  /** Resolves at the next notification, after a time, or when the signal aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.#waiters.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, timeoutMs)
      signal.addEventListener('abort', wake)
      this.#waiters.add(wake)
    })
  }
}
