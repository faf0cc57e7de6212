import type { Position, Recorded } from '../../../schemas/recorded.ts'
import type { Accepted } from '../../domain/decider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, NO_STREAM, RevisionConflict } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Folded } from './folded.ts'
import type { Cause, Streams } from './stream.ts'

/** Commands that may wait for one stream. At a few thousand a second this is under a second of work. */
const MAX_WAITING = 2000

/** Commands that share one append: enough to make the disk's pace irrelevant, few enough for one event store request. */
const MAX_BATCH = 500

/** Data that share one append: half of what an event store takes at once, since what is last decided may go beyond. */
const MAX_BATCH_BYTES = 512 * 1024

/**
 * How long a command may wait for its turn. Older commands are refused, so that a queue that built up during an outage does
 * not outlast its clients.
 */
const MAX_WAIT_MS = 10_000

/** How often a batch is decided again after another process wrote first. Each time that process got on, so nobody is stuck. */
const MAX_CONFLICTS = 20

/**
 * What came of a command: a refusal, or the events that are now durable, up to a position in the log. They all bear that
 * position, since an append is one step to those who wait for it.
 */
export type Outcome<Event extends { type: string; data: unknown }> =
  | { refuse: Refusal }
  | (Accepted<Recorded<Event>> & { position: Position })

type Decided<Event extends { type: string; data: unknown }> =
  | { refuse: Refusal }
  | Accepted<Recorded<Event>>
  | { broken: unknown }

interface Waiting<Command, Event extends { type: string; data: unknown }> {
  command: Command
  cause: Cause
  /** When it arrived, on the monotonic clock. */
  sinceMs: number
  resolve(outcome: Outcome<Event>): void
  reject(error: unknown): void
}

/**
 * One stream's commands, decided one after another. All that wait go to the log in one append, and each promise
 * resolves only when its events are durable.
 */
export class Mailbox<Command, State, Event extends { type: string; data: unknown }> {
  readonly #stream: string
  readonly #streams: Streams<Command, State, Event>
  readonly #clock: Clock
  readonly #maxWaitMs: number
  #waiting: Waiting<Command, Event>[] = []
  #working = false
  #timer: NodeJS.Timeout | undefined
  #folded: Folded<State> | undefined
  #snapshotRevision = NO_STREAM
  /** The position of the last event that this mailbox appended or knows of. */
  position: Position = BEFORE_FIRST

  constructor(stream: string, streams: Streams<Command, State, Event>, clock: Clock, { maxWaitMs = MAX_WAIT_MS } = {}) {
    this.#stream = stream
    this.#streams = streams
    this.#clock = clock
    this.#maxWaitMs = maxWaitMs
  }

  /**
   * Rejects with Unavailable when too many commands wait, when this one waited too long, or when the log takes none, and with
   * InDoubt when it is not known whether the log has written.
   */
  execute(command: Command, cause: Cause): Promise<Outcome<Event>> {
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new Unavailable(`too many commands wait for ${this.#stream}`))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, cause, sinceMs: performance.now(), resolve, reject })
      if (this.#working) this.#watchWaiting()
      else this.#work()
    })
  }

  /** The state after all that this mailbox knows of. Another process may have written since. */
  async state(): Promise<State> {
    return (await this.#load()).state
  }

  /** The state after all that the log holds now, whoever wrote it. */
  async currentState(): Promise<State> {
    // A stream loaded just now is already current.
    return (this.#folded ? await this.#catchUp(this.#folded) : await this.#load()).state
  }

  async #work() {
    this.#working = true
    while (this.#waiting.length > 0) {
      // What is asked for in the same turn shares the append.
      await Promise.resolve()
      const batch = this.#waiting.splice(0, MAX_BATCH)
      this.#refuseLate(batch)
      try {
        if (batch.length > 0) await this.#settle(batch)
      } catch (error) {
        // What is on the log may now be more than what is folded here, so the next command reads it anew.
        this.#folded = undefined
        for (const waiting of batch) waiting.reject(error)
      }
    }
    this.#working = false
  }

  async #settle(batch: Waiting<Command, Event>[]) {
    for (let conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts++) {
      const before = await this.#load()
      // The read, or an earlier conflict, may have taken long.
      this.#refuseLate(batch)
      if (batch.length === 0) return
      const { outcomes, events, folded } = this.#decide(batch, before)
      // What did not fit waits for the next append.
      this.#waiting.unshift(...batch.splice(outcomes.length))
      if (events.length > 0 ? !(await this.#append(events, before, folded)) : !(await this.#isCurrent(before))) continue
      for (const event of events) event.position = this.position
      batch.forEach((waiting, index) => {
        const outcome = outcomes[index] as Decided<Event>
        if ('broken' in outcome) waiting.reject(outcome.broken)
        else waiting.resolve('refuse' in outcome ? outcome : { ...outcome, position: this.position })
      })
      this.#offerSnapshot(folded)
      return
    }
    throw new Unavailable(`others write to ${this.#stream} all the time`)
  }

  /** Refuses commands that have waited too long. None of them was written. The oldest come first. */
  #refuseLate(commands: Waiting<Command, Event>[]) {
    const earliestMs = performance.now() - this.#maxWaitMs
    while (commands[0] && commands[0].sinceMs <= earliestMs)
      commands.shift()?.reject(new Unavailable(`a command for ${this.#stream} waited too long for the event log`))
  }

  /** Refuses those that become late while a batch before them takes its time. */
  #watchWaiting() {
    const [oldest] = this.#waiting
    if (!oldest || this.#timer) return
    const watch = () => {
      this.#timer = undefined
      this.#refuseLate(this.#waiting)
      this.#watchWaiting()
    }
    this.#timer = setTimeout(watch, oldest.sinceMs + this.#maxWaitMs - performance.now()).unref()
  }

  /** False when another process was there first; then what it wrote is folded in. */
  async #append(events: Recorded<Event>[], before: Folded<State>, after: Folded<State>): Promise<boolean> {
    try {
      const { position } = await this.#streams.append(this.#stream, events, before.revision)
      this.#take({ ...after, position })
      return true
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
      await this.#catchUp(before)
      return false
    }
  }

  /** A refusal has no append to prove that it was decided on the present state, so that is looked up. */
  async #isCurrent(before: Folded<State>): Promise<boolean> {
    return (await this.#catchUp(before)).revision === before.revision
  }

  async #catchUp(before: Folded<State>): Promise<Folded<State>> {
    return this.#take((await this.#streams.load(this.#stream, before)).folded)
  }

  /** Decides as many as fit into one append. */
  #decide(batch: Waiting<Command, Event>[], before: Folded<State>) {
    const at = new Date(this.#clock.nowMs()).toISOString()
    const events: Recorded<Event>[] = []
    let folded = before
    let bytes = 0
    const decideOne = ({ command, cause }: Waiting<Command, Event>): Decided<Event> => {
      try {
        const decision = this.#streams.decider.decide(command, folded.state)
        if ('refuse' in decision) return decision
        let after = folded
        const recorded = decision.accept.map(event => {
          const extended = this.#streams.extend(this.#stream, after, event, at, cause)
          after = extended.folded
          return extended.event
        })
        events.push(...recorded)
        folded = after
        // One that is alone fits in any case.
        if (batch.length > 1) bytes += Buffer.byteLength(JSON.stringify(decision.accept))
        return { ...decision, accept: recorded }
      } catch (broken) {
        // A bug that one command brings out must not take those down that wait beside it.
        return { broken }
      }
    }
    const outcomes: Decided<Event>[] = []
    for (const waiting of batch) {
      outcomes.push(decideOne(waiting))
      if (bytes >= MAX_BATCH_BYTES) break
    }
    return { outcomes, events, folded }
  }

  async #load(): Promise<Folded<State>> {
    if (!this.#folded) {
      const { folded, snapshotRevision } = await this.#streams.load(this.#stream)
      this.#snapshotRevision = snapshotRevision
      this.#take(folded)
    }
    return this.#folded as Folded<State>
  }

  /** What was read while an append was under way may be the older of the two. */
  #take(folded: Folded<State>): Folded<State> {
    this.position = Math.max(this.position, folded.position)
    if (!this.#folded || folded.revision >= this.#folded.revision) this.#folded = folded
    return this.#folded
  }

  #offerSnapshot(folded: Folded<State>) {
    this.#streams.offerSnapshot(this.#stream, folded, this.#snapshotRevision).then(
      taken => {
        if (taken) this.#snapshotRevision = folded.revision
      },
      // A snapshot that could not be written is only missing; the views say for themselves that they are broken.
      () => undefined,
    )
  }
}
