import type { AnyEvent, Position, RawEvent, Recorded } from '../../../schemas/recorded.ts'
import { Contradiction, type Decider, type PastEvent } from '../../domain/decider.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type AppendResult,
  BEFORE_FIRST,
  type EventLog,
  type NewEvent,
  NO_STREAM,
  RevisionConflict,
} from '../../ports/event-log.ts'
import { Damaged, InDoubt, Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import { delay, withinTime } from '../../time/timers.ts'
import type { Codec } from '../log/codec.ts'
import { FORMAT, type Linkable, link, linkWithSize } from '../log/hash-chain.ts'
import { type Folded, type SnapshotContent, type Snapshots, unfolded } from './snapshots.ts'

/** The caller and the request that cause an event. */
export interface Cause {
  actor: object
  requestId?: string | undefined
}

/** Encrypts what an event must not hold in the clear. */
export interface Encryption {
  /**
   * Resolves once the next events of a stream can be encrypted; undefined if they can be now. `format` is that of its
   * last event, 0 without events. Rejects with Unavailable, and with Damaged.
   */
  ready(stream: string, format: number): Promise<unknown> | undefined
  /** The data of an event as the log is to hold it. */
  encrypt(event: AnyEvent & { stream: string; id: string }): unknown
}

/** How often an unanswered append is repeated before it is in doubt: 3 s if every attempt fails at once. */
const MAX_SETTLE_ATTEMPTS = 5
const SETTLE_DELAY_MS = 100

/**
 * The time limit for an append with all its retries, enough for two unanswered attempts. With the wait in a mailbox and
 * one read, a request stays within 30 s.
 */
const MAX_APPEND_MS = 12_000

/** How often a slow clock is reported, since every append may detect it. */
const WARN_EVERY_MS = 60_000

export interface StreamsDependencies<Command, State, Event, Refusal> {
  decider: Decider<Command, State, Event, Refusal>
  codec: Codec<AnyEvent>
  log: EventLog
  clock: Clock
  random: Random
  snapshots?: Snapshots<State>
  encryption?: Encryption | undefined
  maxAppendMs?: number
  logger?: Pick<Logger, 'warn'>
}

/** Reads and extends streams of one kind. */
export class Streams<Command, State, Event extends AnyEvent, Refusal> {
  readonly decider: Decider<Command, State, Event, Refusal>
  readonly clock: Clock
  readonly #codec: Codec<AnyEvent>
  readonly #log: EventLog
  readonly #random: Random
  readonly #snapshots: Snapshots<State> | undefined
  readonly #encryption: Encryption | undefined
  readonly #maxAppendMs: number
  readonly #logger: Pick<Logger, 'warn'> | undefined
  #warnedAtMs = Number.NEGATIVE_INFINITY

  constructor({
    decider,
    codec,
    log,
    clock,
    random,
    snapshots,
    encryption,
    maxAppendMs = MAX_APPEND_MS,
    logger,
  }: StreamsDependencies<Command, State, Event, Refusal>) {
    this.decider = decider
    this.#codec = codec
    this.#log = log
    this.clock = clock
    this.#random = random
    this.#snapshots = snapshots
    this.#encryption = encryption
    this.#maxAppendMs = maxAppendMs
    this.#logger = logger
  }

  /**
   * Loads the present state of the stream, from the given state, else from a snapshot that the log confirms, else from
   * the beginning. Rejects with Damaged if the stream differs from the written events.
   */
  async load(stream: string, known?: Folded<State>): Promise<{ folded: Folded<State>; snapshotRevision: number }> {
    if (known) return { folded: await this.#foldTail(stream, known), snapshotRevision: NO_STREAM }
    const snapshot = await this.#snapshots?.load(stream)
    const position = snapshot && (await this.#confirm(stream, snapshot))
    if (snapshot && position !== undefined)
      return { folded: await this.#foldTail(stream, { ...snapshot, position }), snapshotRevision: snapshot.revision }
    return { folded: await this.#foldTail(stream, unfolded(this.decider.initial)), snapshotRevision: NO_STREAM }
  }

  /** Resolves once a stream can be extended; undefined if it can be now. Rejects with Unavailable, and with Damaged. */
  ready(stream: string, { last }: Folded<State>): Promise<unknown> | undefined {
    return this.#encryption?.ready(stream, last?.format ?? 0)
  }

  /**
   * The next event as it enters the log, without its position, the size of its data, and the state folded with it.
   * `now` is the clock's time in ISO 8601; an event is never recorded as earlier than the one before it.
   */
  extend(stream: string, folded: Folded<State>, { type, data }: Event, now: string, cause: Cause) {
    const { actor, requestId } = cause
    const time = this.#timeOf(stream, folded, now)
    const facts = { format: FORMAT, ...time, actor, ...(requestId !== undefined && { requestId }) }
    const revision = folded.revision + 1
    const id = this.#random.uuid()
    const stored = this.#encryption?.encrypt({ id, stream, type, data }) ?? data
    const kept = { data, ...(stored !== data && { stored }) }
    const unlinked = { id, stream, revision, position: BEFORE_FIRST, type, ...kept, metadata: facts }
    const { hash, sizeBytes } = linkWithSize(folded.last?.hash, unlinked)
    const recorded = { ...unlinked, metadata: { ...facts, hash } }
    this.#codec.checkNew(recorded)
    const event = recorded as Recorded<Event> & typeof recorded
    const last = { hash, at: facts.at, format: FORMAT }
    return { event, sizeBytes, folded: { ...folded, revision, last, state: this.decider.evolve(folded.state, event) } }
  }

  /**
   * Appends to a stream whose last revision is known. If the response is lost, finds out which events were written.
   * Rejects with RevisionConflict if another writer was first, with InDoubt if the outcome cannot be found out in time,
   * and with Unavailable if nothing was written.
   */
  append(stream: string, events: Written[], expectedRevision: number): Promise<AppendResult> {
    const settled = this.#settle(this.clock.monotonicMs() + this.#maxAppendMs, stream, events, expectedRevision)
    return withinTime(this.clock, settled, this.#maxAppendMs, () => {
      throw inDoubt()
    })
  }

  async offerSnapshot(stream: string, folded: Folded<State>, lastRevision: number): Promise<boolean> {
    return (await this.#snapshots?.offer(stream, folded, lastRevision)) ?? false
  }

  async #settle(endMs: number, stream: string, events: Written[], expectedRevision: number): Promise<AppendResult> {
    const entries = events.map(({ data, stored = data, ...event }): NewEvent => ({ ...event, data: stored }))
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#log.append(stream, entries, expectedRevision)
      } catch (error) {
        const isDefinite = error instanceof RevisionConflict || error instanceof Unavailable
        if (error instanceof Damaged || error instanceof RangeError || (attempt === 1 && isDefinite)) throw error
        // After a lost response, only the stream shows the outcome of the first attempt.
        const found = isDefinite ? await this.#findAppended(stream, events, expectedRevision) : 'unknown'
        if (typeof found === 'object') return found
        if (found === 'conflict') throw new RevisionConflict(stream, expectedRevision)
        // Only the response is lost. The expected revision ensures that repeats are written once. A log that accepts no
        // writes now may still complete the first attempt.
        const pauseMs = SETTLE_DELAY_MS * 2 ** attempt
        if (attempt >= MAX_SETTLE_ATTEMPTS || this.clock.monotonicMs() + pauseMs >= endMs) throw inDoubt(error)
        await delay(this.clock, pauseMs)
      }
    }
  }

  /**
   * Looks for the appended events after a revision. Returns 'conflict' if another writer's events are there, so that
   * the append can no longer succeed. An append is all or nothing, so the last event decides. Events are matched by
   * revision, because a read may repeat some.
   */
  async #findAppended(
    stream: string,
    events: Written[],
    expectedRevision: number,
  ): Promise<AppendResult | 'conflict' | 'unknown'> {
    try {
      for await (const page of this.#log.readStream(stream, expectedRevision + 1))
        for (const { id, revision, position } of page) {
          const appended = events[revision - expectedRevision - 1]
          if (appended && id !== appended.id) return 'conflict'
          if (appended && appended === events.at(-1)) return { revision, position }
        }
    } catch (error) {
      if (error instanceof Damaged) throw error
    }
    return 'unknown'
  }

  #timeOf(stream: string, { last }: Folded<State>, now: string): { at: string; clock?: string } {
    if (!last || now >= last.at) return { at: now }
    this.#warnOfClock(stream, last.at, now)
    return { at: last.at, clock: now }
  }

  #warnOfClock(stream: string, lastAt: string, now: string) {
    const monotonicMs = this.clock.monotonicMs()
    if (monotonicMs - this.#warnedAtMs < WARN_EVERY_MS) return
    this.#warnedAtMs = monotonicMs
    const behindMs = Date.parse(lastAt) - Date.parse(now)
    this.#logger?.warn({ stream, behindMs }, 'the clock is behind the event log; check the time of this machine')
  }

  /**
   * The position of the event at which a snapshot was taken; undefined if the log has a different event there, or none.
   */
  async #confirm(stream: string, { revision, last }: SnapshotContent<State>): Promise<Position | undefined> {
    const event = await this.#log.readEvent(stream, revision)
    return (event?.metadata as { hash?: string } | undefined)?.hash === last?.hash ? event?.position : undefined
  }

  /**
   * Folds the later events of the stream. A read may repeat events, so a gap is read once more before it counts as
   * damage.
   */
  async #foldTail(stream: string, start: Folded<State>, mayReadAgain = true): Promise<Folded<State>> {
    let folded = start
    for await (const page of this.#log.readStream(stream, start.revision + 1)) {
      // Pages of a long stream may all be there at once, and other work must not wait for all of them.
      if (folded !== start) await delay(this.clock, 0)
      for (const raw of page) {
        const expected = folded.revision + 1
        if (raw.revision !== expected) {
          if (mayReadAgain) return this.#foldTail(stream, start, false)
          throw new Damaged(`${stream} has revision ${raw.revision} where ${expected} belongs`)
        }
        folded = this.#fold(folded, raw)
      }
    }
    return folded
  }

  #fold({ last, state }: Folded<State>, raw: RawEvent): Folded<State> {
    const { stream, revision, position } = raw
    const event = this.#codec.decode(raw) as Recorded & PastEvent<Event>
    const { at, hash, format = 1 } = event.metadata
    const damaged = (what: string) => new Damaged(`${stream} is damaged at revision ${revision}: ${what}`)
    if (hash !== link(last?.hash, raw as Linkable)) throw damaged('the chain is broken, so an event was changed')
    if (last && format < last.format) throw damaged(`format ${format} follows format ${last.format}`)
    if (last && format > 1 && at < last.at) throw damaged(`its time ${at} is before that of the event before it`)
    try {
      return { revision, position, last: { hash, at, format }, state: this.decider.evolve(state, event) }
    } catch (error) {
      throw error instanceof Contradiction ? damaged(error.message) : error
    }
  }
}

/** A new event, with its data as the log is to hold it, if `data` is not that. */
type Written = NewEvent & { stored?: unknown }

const inDoubt = (cause?: unknown) =>
  new InDoubt('the event log did not respond, so it is unknown whether the events were written', { cause })
