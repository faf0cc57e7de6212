import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Actor, Position, Recorded } from '../../../schemas/recorded.ts'
import type { Decider, Happened } from '../../domain/decider.ts'
import {
  type Appended,
  BEFORE_FIRST,
  type EventLog,
  type NewEvent,
  NO_STREAM,
  RevisionConflict,
} from '../../ports/event-log.ts'
import { Damaged, InDoubt, Unavailable } from '../../ports/faults.ts'
import { checkNew, decode } from '../log/codec.ts'
import { type Chained, GENESIS, link } from '../log/hash-chain.ts'
import type { Folded } from './folded.ts'
import type { Snapshots, Snapshotted } from './snapshots.ts'

/** Who wants something, and in the course of which request. */
export interface Cause {
  actor: Actor
  requestId?: string | undefined
}

/** How often an unanswered append is repeated before it counts as in doubt: 3 s if every attempt fails at once. */
const MAX_SETTLE_ATTEMPTS = 5
const SETTLE_DELAY_MS = 100

/**
 * The time limit for an append with all its retries, enough for two unanswered attempts. With the wait in a mailbox and one
 * read, a request stays within 30 s.
 */
const MAX_APPEND_MS = 12_000

/** Reads and extends streams of one kind. */
export class Streams<Command, State, Event extends { type: string; data: unknown }> {
  readonly decider: Decider<Command, State, Event>
  readonly #log: EventLog
  readonly #snapshots: Snapshots<State> | undefined
  readonly #maxAppendMs: number

  constructor(
    decider: Decider<Command, State, Event>,
    log: EventLog,
    snapshots?: Snapshots<State>,
    { maxAppendMs = MAX_APPEND_MS } = {},
  ) {
    this.decider = decider
    this.#log = log
    this.#snapshots = snapshots
    this.#maxAppendMs = maxAppendMs
  }

  /**
   * The stream as it is now. Starts from what is given, else from a snapshot that the log confirms, else from nothing.
   * Rejects with Damaged where what it reads is not what was written.
   */
  async load(stream: string, known?: Folded<State>): Promise<{ folded: Folded<State>; snapshotRevision: number }> {
    if (known) return { folded: await this.#foldTail(stream, known), snapshotRevision: NO_STREAM }
    const snapshot = await this.#snapshots?.load(stream)
    const position = snapshot && (await this.#confirm(stream, snapshot))
    if (snapshot && position !== undefined)
      return { folded: await this.#foldTail(stream, { ...snapshot, position }), snapshotRevision: snapshot.revision }
    const nothing = { revision: NO_STREAM, hash: GENESIS, state: this.decider.initial, position: BEFORE_FIRST }
    return { folded: await this.#foldTail(stream, nothing), snapshotRevision: NO_STREAM }
  }

  /** An event as it enters the log after what is folded so far, and the fold with it. The log gives it its position. */
  extend(stream: string, folded: Folded<State>, { type, data }: Event, at: string, { actor, requestId }: Cause) {
    const facts = requestId === undefined ? { at, actor } : { at, actor, requestId }
    const hash = link(folded.hash, { type, data, metadata: facts })
    const revision = folded.revision + 1
    const metadata = { ...facts, hash }
    const recorded = { id: randomUUID(), stream, revision, position: BEFORE_FIRST, type, data, metadata }
    checkNew(recorded)
    const event = recorded as Recorded<Event> & typeof recorded
    return { event, folded: { ...folded, revision, hash, state: this.decider.evolve(folded.state, event) } }
  }

  /**
   * Appends to a stream whose last revision is known, and finds out what became of it where no answer came.
   * Rejects with RevisionConflict when another writer was there first, with InDoubt when it cannot be found out in time
   * what was written, and with Unavailable when nothing was.
   */
  async append(stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended> {
    const endMs = performance.now() + this.#maxAppendMs
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(inDoubt()), this.#maxAppendMs)
    })
    try {
      return await Promise.race([this.#settle(endMs, stream, events, expectedRevision), tooLate])
    } finally {
      clearTimeout(timer)
    }
  }

  async offerSnapshot(stream: string, folded: Folded<State>, lastRevision: number): Promise<boolean> {
    return (await this.#snapshots?.offer(stream, folded, lastRevision)) ?? false
  }

  async #settle(endMs: number, stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#log.append(stream, events, expectedRevision)
      } catch (error) {
        const isDefinite = error instanceof RevisionConflict || error instanceof Unavailable
        if (error instanceof Damaged || error instanceof RangeError || (attempt === 1 && isDefinite)) throw error
        // After a lost answer, only the stream tells what happened to the first attempt.
        const found = isDefinite ? await this.#findAppended(stream, events, expectedRevision) : 'unknown'
        if (typeof found === 'object') return found
        if (found === 'conflict') throw new RevisionConflict(stream, expectedRevision)
        // Only the answer is lost. The expected revision ensures that repeats are written once. A log that accepts no
        // writes now may still complete the first attempt.
        const pauseMs = SETTLE_DELAY_MS * 2 ** attempt
        if (attempt >= MAX_SETTLE_ATTEMPTS || performance.now() + pauseMs >= endMs) throw inDoubt(error)
        await delay(pauseMs)
      }
    }
  }

  /**
   * Looks for our events after a revision; 'conflict' if another writer's are there, so that ours never will be. An append
   * is all or nothing, so the last event decides. Events are matched by revision, because a read may repeat some.
   */
  async #findAppended(
    stream: string,
    events: NewEvent[],
    expectedRevision: number,
  ): Promise<Appended | 'conflict' | 'unknown'> {
    try {
      for await (const page of this.#log.readStream(stream, expectedRevision + 1))
        for (const { id, revision, position } of page) {
          const ours = events[revision - expectedRevision - 1]
          if (ours && id !== ours.id) return 'conflict'
          if (ours && ours === events.at(-1)) return { revision, position }
        }
    } catch (error) {
      if (error instanceof Damaged) throw error
    }
    return 'unknown'
  }

  /** The position of the event that a snapshot was taken at; undefined when the log holds another one there, or none. */
  async #confirm(stream: string, snapshot: Snapshotted<State>): Promise<Position | undefined> {
    for await (const [event] of this.#log.readStream(stream, snapshot.revision))
      return (event?.metadata as { hash?: string } | undefined)?.hash === snapshot.hash ? event?.position : undefined
    return undefined
  }

  /** Folds the rest of the stream. A read may repeat events, so a gap is read once more before it counts as damage. */
  async #foldTail(stream: string, start: Folded<State>, mayReadAgain = true): Promise<Folded<State>> {
    let { revision, hash, state, position } = start
    for await (const page of this.#log.readStream(stream, revision + 1))
      for (const raw of page) {
        if (raw.revision !== revision + 1) {
          if (mayReadAgain) return this.#foldTail(stream, start, false)
          throw new Damaged(`${stream} has revision ${raw.revision} where ${revision + 1} belongs`)
        }
        const event = decode(raw) as Recorded & Happened<Event>
        if (event.metadata.hash !== link(hash, raw as Chained))
          throw new Damaged(`the chain of ${stream} is broken at revision ${event.revision}: an event was changed`)
        state = this.decider.evolve(state, event)
        revision = event.revision
        hash = event.metadata.hash
        position = event.position
      }
    return { revision, hash, state, position }
  }
}

const inDoubt = (cause?: unknown) =>
  new InDoubt('the event log does not answer, and whether it has written is not known', { cause })
