import type { AnyEvent, Position, Recorded } from '../../../schemas/recorded.ts'
import type { Acceptance } from '../../domain/decider.ts'
import type { Clock, Timer } from '../../ports/clock.ts'
import { BEFORE_FIRST, NO_STREAM, RevisionConflict } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { SharedRead } from './shared-read.ts'
import type { Folded } from './snapshots.ts'
import type { Cause, Streams } from './stream.ts'

/** Commands that may wait for one stream: less than a second of work at a few thousand a second. */
const MAX_WAITING = 2000

/**
 * Commands that share one append: enough to hide the latency of the disk, few enough for one request to the event
 * store.
 */
const MAX_BATCH = 500

/**
 * The most bytes of data that share an append: half of the limit of event stores, since the last command may exceed it.
 */
const MAX_BATCH_BYTES = 512 * 1024

/**
 * How long a command may wait for its turn. Older commands are refused, so that a queue that built up during an outage
 * does not outlast its clients.
 */
const MAX_WAIT_MS = 10_000

/**
 * How often a batch is decided again because another process wrote first. Each conflict means that the other made
 * progress.
 */
const MAX_CONFLICTS = 20

/**
 * The outcome of a command: a refusal, or the events that are now durable. All events get the position of their append,
 * since readers see an append in one step.
 */
export type CommandOutcome<Event extends AnyEvent, Refusal> =
  | { refuse: Refusal }
  | (Acceptance<Recorded<Event>> & { position: Position })

type Decided<Event extends AnyEvent, Refusal> = { refuse: Refusal } | Acceptance<Recorded<Event>> | { broken: unknown }

interface Waiting<Command, Event extends AnyEvent, Refusal> {
  command: Command
  cause: Cause
  /** When it arrived, on the monotonic clock. */
  sinceMs: number
  resolve(outcome: CommandOutcome<Event, Refusal>): void
  reject(error: unknown): void
}

export interface MailboxOptions {
  maxWaitMs?: number
}

/**
 * Decides one stream's commands one after another. All waiting commands share one append, and each promise resolves
 * only when its events are durable.
 */
export class Mailbox<Command, State, Event extends AnyEvent, Refusal> {
  readonly #stream: string
  readonly #streams: Streams<Command, State, Event, Refusal>
  readonly #clock: Clock
  readonly #maxWaitMs: number
  readonly #reads: SharedRead<State>
  #waiting: Waiting<Command, Event, Refusal>[] = []
  #working = false
  #timer: Timer | undefined
  #folded: Folded<State> | undefined
  #snapshotRevision = NO_STREAM
  /** When the folded state last matched the log, on the monotonic clock. */
  #currentAtMs = Number.NEGATIVE_INFINITY
  /** Kept when a failed append makes the folded state doubtful. */
  #last: Folded<State> | undefined

  constructor(
    stream: string,
    streams: Streams<Command, State, Event, Refusal>,
    { maxWaitMs = MAX_WAIT_MS }: MailboxOptions = {},
  ) {
    this.#stream = stream
    this.#streams = streams
    this.#clock = streams.clock
    this.#maxWaitMs = maxWaitMs
    this.#reads = new SharedRead(this.#clock, () => this.currentState())
  }

  /**
   * Rejects with Unavailable if too many commands wait, this one waits too long, or the log is down; with InDoubt if it
   * is not known whether the log has written.
   */
  execute(command: Command, cause: Cause): Promise<CommandOutcome<Event, Refusal>> {
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new Unavailable(`too many commands wait for ${this.#stream}`, { part: 'load' }))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, cause, sinceMs: this.#clock.monotonicMs(), resolve, reject })
      if (this.#working) this.#watchWaiting()
      else this.#work()
    })
  }

  /** The position of the last event that this mailbox has appended or read; BEFORE_FIRST until it has done either. */
  get position(): Position {
    return this.#last?.position ?? BEFORE_FIRST
  }

  /** The revision of that event; NO_STREAM until then. */
  get revision(): number {
    return this.#last?.revision ?? NO_STREAM
  }

  /** The state after every event that this mailbox knows. Another process may have written since. */
  async state(): Promise<State> {
    return (await this.#load()).state
  }

  /** The state after every event that the log holds now. */
  async currentState(): Promise<State> {
    // A stream loaded just now is already current.
    return (this.#folded ? await this.#catchUp(this.#folded) : await this.#load()).state
  }

  /** The current state with the revision and the link of its last event. */
  async currentHead(): Promise<{ state: State; revision: number; link: string | undefined }> {
    const { state, revision, last } = await (this.#folded ? this.#catchUp(this.#folded) : this.#load())
    return { state, revision, link: last?.hash }
  }

  /**
   * The state of the log at some time since `sinceMs`, on the monotonic clock. While the log is unavailable or slow,
   * the last state that this process read.
   */
  async stateSince(sinceMs: number): Promise<State> {
    if (this.#folded && this.#currentAtMs >= sinceMs) return this.#folded.state
    return this.#reads.since(sinceMs, this.#last && (() => (this.#last as Folded<State>).state))
  }

  async #work() {
    this.#working = true
    while (this.#waiting.length > 0) {
      // Commands of the same turn share the append.
      await Promise.resolve()
      const batch = this.#waiting.splice(0, MAX_BATCH)
      this.#refuseLate(batch)
      try {
        if (batch.length > 0) await this.#settle(batch)
      } catch (error) {
        // The log may now hold more than is folded here, so the next command reads it again.
        this.#folded = undefined
        for (const waiting of batch) waiting.reject(error)
      }
    }
    this.#working = false
  }

  async #settle(batch: Waiting<Command, Event, Refusal>[]) {
    for (let conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts++) {
      const before = await this.#load()
      await this.#streams.ready(this.#stream, before)
      // The read, or an earlier conflict, may have taken long.
      this.#refuseLate(batch)
      if (batch.length === 0) return
      const { outcomes, events, folded } = this.#decide(batch, before)
      // Commands that did not fit wait for the next append.
      this.#waiting.unshift(...batch.splice(outcomes.length))
      if (events.length > 0 ? !(await this.#append(events, before, folded)) : !(await this.#isCurrent(before))) continue
      const { position } = this
      for (const event of events) event.position = position
      batch.forEach((waiting, index) => {
        const outcome = outcomes[index] as Decided<Event, Refusal>
        if ('broken' in outcome) waiting.reject(outcome.broken)
        else waiting.resolve('refuse' in outcome ? outcome : { ...outcome, position })
      })
      this.#offerSnapshot(folded)
      return
    }
    throw new Unavailable(`other processes keep writing to ${this.#stream}`, { part: 'load' })
  }

  /** Refuses commands that have waited too long; none of them was written. The oldest come first. */
  #refuseLate(commands: Waiting<Command, Event, Refusal>[]) {
    const earliestMs = this.#clock.monotonicMs() - this.#maxWaitMs
    while (commands[0] && commands[0].sinceMs <= earliestMs)
      commands
        .shift()
        ?.reject(new Unavailable(`a command for ${this.#stream} waited too long for the event log`, { part: 'log' }))
  }

  /** Refuses commands that become late while an earlier batch is in progress. */
  #watchWaiting() {
    const [oldest] = this.#waiting
    if (!oldest || this.#timer) return
    const watch = () => {
      this.#timer = undefined
      this.#refuseLate(this.#waiting)
      this.#watchWaiting()
    }
    this.#timer = this.#clock.timer(oldest.sinceMs + this.#maxWaitMs - this.#clock.monotonicMs(), watch).unref()
  }

  /** False if another process wrote first; its events are then folded in. */
  async #append(events: Recorded<Event>[], before: Folded<State>, after: Folded<State>): Promise<boolean> {
    try {
      const appendAtMs = this.#clock.monotonicMs()
      const { position } = await this.#streams.append(this.#stream, events, before.revision)
      this.#currentAtMs = Math.max(this.#currentAtMs, appendAtMs)
      this.#take({ ...after, position })
      return true
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
      await this.#catchUp(before)
      return false
    }
  }

  /** A refusal has no append to prove that it was decided on the present state, so the log is read. */
  async #isCurrent(before: Folded<State>): Promise<boolean> {
    return (await this.#catchUp(before)).revision === before.revision
  }

  async #catchUp(before: Folded<State>): Promise<Folded<State>> {
    const readAtMs = this.#clock.monotonicMs()
    const { folded } = await this.#streams.load(this.#stream, before)
    this.#currentAtMs = Math.max(this.#currentAtMs, readAtMs)
    return this.#take(folded)
  }

  /** Decides as many commands as fit into one append. */
  #decide(batch: Waiting<Command, Event, Refusal>[], before: Folded<State>) {
    const now = new Date(this.#clock.nowMs()).toISOString()
    const nowMs = Date.parse(now)
    const { decider } = this.#streams
    const events: Recorded<Event>[] = []
    let folded = before
    let bytes = 0
    const decideOne = ({ command, cause }: Waiting<Command, Event, Refusal>): Decided<Event, Refusal> => {
      try {
        const decision = decider.decide(command, folded.state, nowMs)
        if ('refuse' in decision) return decision
        let after = folded
        const recorded = decision.accept.map(event => {
          const extended = this.#streams.extend(this.#stream, after, event, now, cause)
          after = extended.folded
          bytes += extended.sizeBytes
          return extended.event
        })
        events.push(...recorded)
        folded = after
        return { ...decision, accept: recorded }
      } catch (broken) {
        // A bug in one command must not reject the commands beside it.
        return { broken }
      }
    }
    const outcomes: Decided<Event, Refusal>[] = []
    for (const waiting of batch) {
      outcomes.push(decideOne(waiting))
      if (bytes >= MAX_BATCH_BYTES) break
    }
    return { outcomes, events, folded }
  }

  async #load(): Promise<Folded<State>> {
    if (!this.#folded) {
      const readAtMs = this.#clock.monotonicMs()
      const { folded, snapshotRevision } = await this.#streams.load(this.#stream)
      this.#snapshotRevision = snapshotRevision
      this.#currentAtMs = readAtMs
      this.#take(folded)
    }
    return this.#folded as Folded<State>
  }

  /** A state that was read during an append may be older than the appended one. */
  #take(folded: Folded<State>): Folded<State> {
    if (!this.#folded || folded.revision >= this.#folded.revision) this.#folded = folded
    this.#last = this.#folded
    return this.#folded
  }

  #offerSnapshot(folded: Folded<State>) {
    this.#streams.offerSnapshot(this.#stream, folded, this.#snapshotRevision).then(
      taken => {
        if (taken) this.#snapshotRevision = folded.revision
      },
      // A missing snapshot is harmless; failures of the views are reported elsewhere.
      () => undefined,
    )
  }
}
