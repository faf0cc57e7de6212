import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Database, RootDatabase } from '../lmdb/environment.ts'
import { unreadable } from './lmdb-entry.ts'

/**
 * The index is written in bulk, as one run of positions per stream. Writing it for each event would touch a page per
 * stream in every commit, and cost more than the events. Larger batches would delay the commit.
 */
const WRITE_EVERY = 2048

// A stream's number and the first revision of a range share one integer key: 2^26 streams of 2^27 events each.
const MAX_STREAMS = 2 ** 26
export const MAX_REVISIONS = 2 ** 27

const INDEXED = 'stretched'

/** All databases of the log's file: the events by position, and those of the index. */
export const LOG_DATABASES = ['entries', 'streams', 'stretches', 'meta']

/** The unindexed end of a stream: the positions of its events from a revision on. */
interface Tail {
  fromRevision: number
  positions: Position[]
}

/**
 * Finds the events of a stream. Unindexed events are in memory. A process reads them from the log when it opens the
 * log, or after another process has written. So the index may lag but is never wrong.
 */
export class StreamIndex {
  readonly #folder: string
  readonly #entries: Database<string, number>
  readonly #numbers: Database<number, string>
  /** Ranges of a stream's positions, by its number and the first revision. */
  readonly #ranges: Database<Position[], number>
  readonly #meta: Database<Position, string>
  readonly #tails = new Map<string, Tail>()
  #inTails = 0
  /** All events up to here are in the index or the tails. */
  #seen: Position = -1
  /** All events up to here are in the index, and not in the tails. */
  #dropped: Position = -1

  constructor(folder: string, root: RootDatabase, entries: Database<string, number>) {
    this.#folder = folder
    this.#entries = entries
    this.#numbers = root.openDB('streams', {})
    this.#ranges = root.openDB('stretches', {})
    this.#meta = root.openDB('meta', {})
    this.catchUp()
  }

  /** The position of the last event that is in the index or the tails. */
  get seen(): Position {
    return this.#seen
  }

  /** Reads newly committed events, and returns the position of the last event. */
  catchUp(): Position {
    const indexed = this.#indexed()
    if (indexed > this.#dropped) this.#dropTails(indexed)
    for (const { key: position, value } of this.#entries.getRange({ start: this.#seen + 1 })) {
      const { stream, revision } = this.#readHeader(position, value)
      this.add(stream, revision, position)
    }
    return this.#seen
  }

  /** Adds a committed event. Ignores a known one. */
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
    const range = this.#lastRange(stream)
    return range ? range.firstRevision + range.positions.length - 1 : NO_STREAM
  }

  /** The position of a stream's last event, or BEFORE_FIRST. */
  lastPosition(stream: string): Position {
    const { positions } = this.#tails.get(stream) ?? this.#lastRange(stream) ?? {}
    return positions?.at(-1) ?? BEFORE_FIRST
  }

  /** The positions of a stream's events from a revision on, in order. */
  *positions(stream: string, fromRevision: number): Generator<Position> {
    const tail = this.#tails.get(stream)
    const number = this.#numbers.get(stream)
    if (number !== undefined) {
      const end = tail?.fromRevision ?? MAX_REVISIONS
      let start = keyOf(number, fromRevision)
      for (const key of this.#ranges.getKeys(lastRangeFrom(number, fromRevision))) start = key
      for (const { key, value } of this.#ranges.getRange({ start, end: keyOf(number, end) })) {
        const first = key - keyOf(number, 0)
        yield* value.slice(Math.max(0, fromRevision - first), end - first)
      }
    }
    if (tail) yield* tail.positions.slice(Math.max(0, fromRevision - tail.fromRevision))
  }

  /**
   * Writes the tails to the index once they are long enough. Runs inside a write transaction. After the commit,
   * `catchUp` drops the tails.
   */
  writeWhenDue() {
    if (this.#inTails < WRITE_EVERY) return
    for (const [stream, { fromRevision, positions }] of this.#tails) {
      const number = this.#numbers.get(stream) ?? this.#addStream(stream)
      this.#ranges.put(keyOf(number, fromRevision), positions)
    }
    this.#meta.put(INDEXED, this.#seen)
  }

  #lastRange(stream: string): { firstRevision: number; positions: Position[] } | undefined {
    const number = this.#numbers.get(stream)
    if (number === undefined) return undefined
    for (const { key, value } of this.#ranges.getRange(lastRangeFrom(number, MAX_REVISIONS - 1)))
      return { firstRevision: key - keyOf(number, 0), positions: value }
    throw new Damaged(`${this.#folder}: the stream ${stream} has a number but no events`)
  }

  #indexed(): Position {
    return this.#meta.get(INDEXED) ?? -1
  }

  /** Drops the indexed part of the tails. */
  #dropTails(indexed: Position) {
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
    this.#dropped = indexed
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
    if (!header) throw unreadable(this.#folder, position)
    return { stream: header[1] as string, revision: Number(header[2]) }
  }
}

const keyOf = (number: number, revision: number): number => number * MAX_REVISIONS + revision

/** The last range of a stream that starts at or before a revision. */
const lastRangeFrom = (number: number, revision: number) => ({
  start: keyOf(number, revision),
  end: keyOf(number, 0) - 1,
  reverse: true,
  limit: 1,
})
