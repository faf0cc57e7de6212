import type { Position } from '../../../schemas/recorded.ts'
import { NO_STREAM } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Database, RootDatabase } from '../lmdb.ts'

/**
 * The index is written in bulk, once for so many events, as one stretch for each stream. A write for each event would touch
 * a page for every stream in every commit, and cost more than the events themselves; many more at once would hold up the
 * commit that does it.
 */
const WRITE_EVERY = 2048

// A stream's number and the first revision of a stretch share one integer key: 2^26 streams of 2^27 events each.
const MAX_STREAMS = 2 ** 26
export const MAX_REVISIONS = 2 ** 27

const INDEXED = 'stretched'

/** What stands in the log for an event; its key is the position. Stream and revision come first, to be found unparsed. */
export type Entry = [stream: string, revision: number, id: string, type: string, data: unknown, metadata: unknown]

/** The end of a stream that is not in the index yet: the positions of its events from a revision on. */
interface Tail {
  fromRevision: number
  positions: Position[]
}

/**
 * Finds the events of a stream. What is not indexed yet is kept in memory, and read from the log again by whoever opens
 * it or notices that another process wrote: so the index may lag, and never lies.
 */
export class StreamIndex {
  readonly #folder: string
  readonly #entries: Database<string, number>
  readonly #numbers: Database<number, string>
  /** The positions of a stretch of a stream, by its number and the revision of the first. */
  readonly #stretches: Database<Position[], number>
  readonly #meta: Database<Position, string>
  readonly #tails = new Map<string, Tail>()
  #inTails = 0
  /** All events up to here are indexed, or in the tails. */
  #seen: Position = -1
  /** All events up to here are indexed, and no longer in the tails. */
  #forgotten: Position = -1

  constructor(folder: string, root: RootDatabase, entries: Database<string, number>) {
    this.#folder = folder
    this.#entries = entries
    this.#numbers = root.openDB('streams', {})
    this.#stretches = root.openDB('stretches', {})
    this.#meta = root.openDB('meta', {})
    this.catchUp()
  }

  /** Takes in what is committed and not known yet, and returns the position of the last event. */
  catchUp(): Position {
    const indexed = this.#indexed()
    if (indexed > this.#forgotten) this.#forget(indexed)
    for (const { key: position, value } of this.#entries.getRange({ start: this.#seen + 1 })) {
      const { stream, revision } = this.#readHeader(position, value)
      this.add(stream, revision, position)
    }
    return this.#seen
  }

  /** Takes in a committed event. One that is known already is passed over. */
  add(stream: string, revision: number, position: Position) {
    if (position <= this.#seen) return
    const tail = this.#tails.get(stream)
    if (tail) tail.positions.push(position)
    else this.#tails.set(stream, { fromRevision: revision, positions: [position] })
    this.#inTails += 1
    this.#seen = position
  }

  /** The last revision of a stream, or NO_STREAM. */
  lastRevision(stream: string): number {
    const tail = this.#tails.get(stream)
    if (tail) return tail.fromRevision + tail.positions.length - 1
    const number = this.#numbers.get(stream)
    if (number === undefined) return NO_STREAM
    for (const { key, value } of this.#stretches.getRange(backFrom(number, MAX_REVISIONS - 1)))
      return key - keyOf(number, 0) + value.length - 1
    throw new Damaged(`${this.#folder}: the stream ${stream} has a number but no events`)
  }

  /** The positions of a stream's events from a revision on, in order. */
  *positions(stream: string, fromRevision: number): Generator<Position> {
    const tail = this.#tails.get(stream)
    const number = this.#numbers.get(stream)
    if (number !== undefined) {
      const end = tail?.fromRevision ?? MAX_REVISIONS
      let start = keyOf(number, fromRevision)
      for (const key of this.#stretches.getKeys(backFrom(number, fromRevision))) start = key
      for (const { key, value } of this.#stretches.getRange({ start, end: keyOf(number, end) })) {
        const first = key - keyOf(number, 0)
        yield* value.slice(Math.max(0, fromRevision - first), end - first)
      }
    }
    if (tail) yield* tail.positions.slice(Math.max(0, fromRevision - tail.fromRevision))
  }

  /**
   * Writes what is not indexed yet, when there is enough of it. Runs inside a write transaction; the tails are let go
   * when it is committed and the next event is looked for.
   */
  writeWhenDue() {
    if (this.#inTails < WRITE_EVERY) return
    for (const [stream, { fromRevision, positions }] of this.#tails) {
      const number = this.#numbers.get(stream) ?? this.#addStream(stream)
      this.#stretches.put(keyOf(number, fromRevision), positions)
    }
    this.#meta.put(INDEXED, this.#seen)
  }

  #indexed(): Position {
    return this.#meta.get(INDEXED) ?? -1
  }

  /** Lets go of the tails up to a position, all of which is indexed. */
  #forget(indexed: Position) {
    this.#inTails = 0
    for (const [stream, tail] of this.#tails) {
      const kept = tail.positions.filter(position => position > indexed)
      if (kept.length === 0) this.#tails.delete(stream)
      else
        this.#tails.set(stream, {
          fromRevision: tail.fromRevision + tail.positions.length - kept.length,
          positions: kept,
        })
      this.#inTails += kept.length
    }
    this.#forgotten = indexed
    this.#seen = Math.max(this.#seen, indexed)
  }

  #addStream(stream: string): number {
    const number = this.#numbers.getCount()
    if (number >= MAX_STREAMS) throw new Error(`the log is full: it has ${MAX_STREAMS} streams`)
    this.#numbers.put(stream, number)
    return number
  }

  #readHeader(position: Position, text: string): { stream: string; revision: number } {
    const header = /^\["([^"\\]+)",(\d+),/.exec(text)
    if (!header) throw new Damaged(`${this.#folder}: the entry at position ${position} cannot be read`)
    return { stream: header[1] as string, revision: Number(header[2]) }
  }
}

const keyOf = (number: number, revision: number): number => number * MAX_REVISIONS + revision

/** The last stretch of a stream that begins at a revision or before it. */
const backFrom = (number: number, revision: number) => ({
  start: keyOf(number, revision),
  end: keyOf(number, 0) - 1,
  reverse: true,
  limit: 1,
})
