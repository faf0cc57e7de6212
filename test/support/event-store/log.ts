import type { RawEvent } from '../../../schemas/recorded.ts'
import {
  BEFORE_FIRST,
  type EventLog,
  type NewEvent,
  NO_STREAM,
  RevisionConflict,
} from '../../../src/ports/event-log.ts'
import { invalidPosition, Refused } from './faults.ts'

/** The server reads in batches of this size, and checks before each whether it may. */
export const BATCH = 32

/** A writer's expectation of a stream. */
export type Expected = number | 'any' | 'exists'

export type Written =
  | { revision: number; position: bigint | undefined; repeated: boolean }
  | { wrongExpected: true; current: number }

/** An embedded log with EventStoreDB's positions and its rules for repeated events. */
export class ServerLog {
  readonly log: EventLog
  /** Pending appends by stream, for streams where one had to read first. */
  readonly #lastAppends = new Map<string, Promise<Written>>()

  constructor(log: EventLog) {
    this.log = log
  }

  /**
   * Passes appends to the log in order. A repeated append with the same ids and expected revision succeeds without
   * writing. So does one with any expected revision, if the stream ends with its ids.
   */
  append(stream: string, events: NewEvent[], expected: Expected): Promise<Written> {
    const before = this.#lastAppends.get(stream)
    if (typeof expected === 'number' && !before) return this.#appendAt(stream, events, expected)
    // The stream's end must be read first, so later appends to it wait.
    const write = () =>
      typeof expected === 'number'
        ? this.#appendAt(stream, events, expected)
        : this.#appendAtEnd(stream, events, expected)
    const written = before ? before.then(write, write) : write()
    this.#lastAppends.set(stream, written)
    const forget = () => {
      if (this.#lastAppends.get(stream) === written) this.#lastAppends.delete(stream)
    }
    written.then(forget, forget)
    return written
  }

  async #appendAt(stream: string, events: NewEvent[], expected: number): Promise<Written> {
    try {
      const { revision, position } = await this.log.append(stream, events, expected)
      return { revision, position: toCommit(position), repeated: false }
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
      // Repeated events always conflict, so they end up here.
      const repeated = await this.#findRepeated(stream, events, expected)
      if (repeated) return { revision: repeated.revision, position: toCommit(repeated.position), repeated: true }
      return { wrongExpected: true, current: await this.#lastRevision(stream) }
    }
  }

  async #appendAtEnd(stream: string, events: NewEvent[], expected: 'any' | 'exists'): Promise<Written> {
    while (true) {
      const revision = await this.#lastRevision(stream)
      if (expected === 'exists' && revision === NO_STREAM) return { wrongExpected: true, current: NO_STREAM }
      const repeated = await this.#findRepeated(stream, events, revision - events.length)
      if (repeated) return { revision: repeated.revision, position: toCommit(repeated.position), repeated: true }
      const written = await this.#appendAt(stream, events, revision)
      // Other members of the cluster may write too.
      if (!('wrongExpected' in written)) return written
    }
  }

  async *readStream(stream: string, from: number | 'end', backwards: boolean): AsyncGenerator<RawEvent> {
    if (!backwards) {
      if (from !== 'end') for await (const page of this.log.readStream(stream, from)) yield* page
      return
    }
    const events: RawEvent[] = []
    for await (const page of this.log.readStream(stream, 0)) events.push(...page)
    yield* events.slice(0, from === 'end' ? undefined : from + 1).reverse()
  }

  /** Reads from the event at a position, or from either end. */
  async *readAll(from: bigint | 'start' | 'end', backwards: boolean): AsyncGenerator<RawEvent> {
    if (!backwards) {
      const after = from === 'start' ? BEFORE_FIRST : from === 'end' ? await this.log.head() : toPosition(from) - 1
      for await (const page of this.log.readAll(after)) yield* page
      return
    }
    let to = from === 'end' ? await this.log.head() : from === 'start' ? BEFORE_FIRST : toPosition(from) - 1
    while (to > BEFORE_FIRST) {
      const start = Math.max(BEFORE_FIRST, to - WINDOW)
      const window: RawEvent[] = []
      for await (const page of this.log.readAll(start)) {
        window.push(...page.filter(({ position }) => position <= to))
        if (window.length >= to - start) break
      }
      yield* window.reverse()
      to = start
    }
  }

  /** Whether a stream exists. A read without results may have started after its end. */
  async exists(stream: string): Promise<boolean> {
    for await (const _ of this.log.readStream(stream, 0)) return true
    return false
  }

  async #findRepeated(stream: string, events: NewEvent[], after: number): Promise<RawEvent | undefined> {
    if (after < NO_STREAM || events.length === 0) return undefined
    const found: RawEvent[] = []
    for await (const page of this.log.readStream(stream, after + 1)) {
      found.push(...page)
      if (found.length >= events.length) break
    }
    return events.every(({ id }, index) => found[index]?.id === id) ? found[events.length - 1] : undefined
  }

  async #lastRevision(stream: string): Promise<number> {
    let last = NO_STREAM
    for await (const page of this.log.readStream(stream, 0)) last = page.at(-1)?.revision ?? last
    return last
  }
}

const WINDOW = 1000

/** Positions count bytes in a file with records of varying length, so few numbers are valid. */
export const toCommit = (position: number): bigint => BigInt(position) * 150n + BigInt((position * 37) % 101)

/** A read must start at the position of an event. */
export const toPosition = (commit: bigint): number => {
  const position = Number(commit / 150n)
  if (toCommit(position) !== commit) throw new Refused(invalidPosition())
  return position
}
