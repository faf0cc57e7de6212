import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Actor, Position, Recorded } from '../../schemas/recorded.ts'
import type { Decider, Happened } from '../domain/decider.ts'
import {
  type Appended,
  BEFORE_FIRST,
  type EventLog,
  type NewEvent,
  NO_STREAM,
  RevisionConflict,
} from '../ports/event-log.ts'
import { Damaged, Unavailable } from '../ports/faults.ts'
import { checkNew, decode } from './codec.ts'
import { type Chained, GENESIS, link } from './hash-chain.ts'
import type { Snapshots, Snapshotted } from './snapshots.ts'

/** A stream folded up to a revision, with the chain's hash there. */
export interface Folded<State> {
  revision: number
  hash: string
  state: State
  /** The position of the last event, or BEFORE_FIRST. */
  position: Position
}

/** Who wants something, and in the course of which request. */
export interface Cause {
  actor: Actor
  requestId?: string | undefined
}

/** How often an append without an answer is asked for again before its outcome is left open: for about 3 s. */
const MAX_SETTLE_ATTEMPTS = 5
const SETTLE_DELAY_MS = 100

/** Reads and extends streams of one kind. */
export class Streams<Command, State, Event extends { type: string; data: unknown }> {
  readonly decider: Decider<Command, State, Event>
  readonly #log: EventLog
  readonly #snapshots: Snapshots<State> | undefined

  constructor(decider: Decider<Command, State, Event>, log: EventLog, snapshots?: Snapshots<State>) {
    this.decider = decider
    this.#log = log
    this.#snapshots = snapshots
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
   * Rejects with RevisionConflict when another writer was there first, and with Unavailable when nothing is known.
   */
  async append(stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#log.append(stream, events, expectedRevision)
      } catch (error) {
        if (error instanceof Damaged) throw error
        const isFault = error instanceof RevisionConflict || error instanceof Unavailable
        if (isFault && attempt === 1) throw error
        const appended = isFault ? await this.#findAppended(stream, events, expectedRevision) : undefined
        if (appended) return appended
        if (error instanceof RevisionConflict) throw error
        // The answer is lost, not the question: asking again with the same revision can only be written once. That the log takes
        // no writes now says nothing of the first time, which may still be under way.
        if (attempt >= MAX_SETTLE_ATTEMPTS)
          throw new Unavailable('the event log does not answer, and whether it has written is not known', {
            cause: error,
          })
        await delay(SETTLE_DELAY_MS * 2 ** attempt)
      }
    }
  }

  async offerSnapshot(stream: string, folded: Folded<State>, lastRevision: number): Promise<boolean> {
    return (await this.#snapshots?.offer(stream, folded, lastRevision)) ?? false
  }

  /** Our events, if it is they that follow the revision. */
  async #findAppended(stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended | undefined> {
    const found: Recorded[] = []
    for await (const page of this.#log.readStream(stream, expectedRevision + 1)) {
      for (const raw of page.slice(0, events.length - found.length)) found.push(decode(raw))
      if (found.length >= events.length) break
    }
    const last = found.at(-1)
    const isOurs = found.length === events.length && found.every((event, index) => event.id === events[index]?.id)
    return isOurs && last ? { revision: last.revision, position: last.position } : undefined
  }

  /** The position of the event that a snapshot was taken at; undefined when the log holds another one there, or none. */
  async #confirm(stream: string, snapshot: Snapshotted<State>): Promise<Position | undefined> {
    for await (const [event] of this.#log.readStream(stream, snapshot.revision))
      return (event?.metadata as { hash?: string } | undefined)?.hash === snapshot.hash ? event?.position : undefined
    return undefined
  }

  async #foldTail(stream: string, start: Folded<State>): Promise<Folded<State>> {
    let { revision, hash, state, position } = start
    for await (const page of this.#log.readStream(stream, revision + 1))
      for (const raw of page) {
        const event = decode(raw) as Recorded & Happened<Event>
        if (event.revision !== revision + 1)
          throw new Damaged(`${stream} has revision ${event.revision} where ${revision + 1} belongs`)
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
