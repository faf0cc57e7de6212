import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import type { AppendResult, EventLog, NewEvent } from '../../../src/ports/event-log.ts'
import { Refused, timedOut } from './faults.ts'

type State = 'open' | 'held' | 'lost' | 'ended'

interface MemberLogOptions {
  log: EventLog
  /** Whether a majority would accept an append now. */
  canCommit(): boolean
  commitTimeoutMs: number
}

/** One member's view of the cluster's log. */
export class MemberLog implements EventLog {
  readonly #log: EventLog
  readonly #canCommit: () => boolean
  readonly #commitTimeoutMs: number
  readonly #changes = new EventEmitter().setMaxListeners(0)
  #state: State = 'open'
  /** It knows no event after this one. */
  #limit: Position | undefined

  constructor({ log, canCommit, commitTimeoutMs }: MemberLogOptions) {
    this.#log = log
    this.#canCommit = canCommit
    this.#commitTimeoutMs = commitTimeoutMs
  }

  /** From this call on, nothing is written. */
  async hold(): Promise<void> {
    this.#become('held')
    this.#limit = await this.#log.head()
  }

  release() {
    this.#limit = undefined
    this.#become('open')
  }

  lose({ stale }: { stale: boolean }) {
    if (!stale) this.#limit = undefined
    this.#become('lost')
  }

  end() {
    this.#become('ended')
  }

  append(stream: string, events: NewEvent[], expectedRevision: number): Promise<AppendResult> {
    // No await here, so that appends stay in order.
    return this.#state === 'open' && this.#canCommit()
      ? this.#log.append(stream, events, expectedRevision)
      : this.#appendLater(stream, events, expectedRevision)
  }

  async #appendLater(stream: string, events: NewEvent[], expectedRevision: number): Promise<AppendResult> {
    while (this.#state === 'held') await once(this.#changes, 'change')
    if (this.#state === 'open' && this.#canCommit()) return this.#log.append(stream, events, expectedRevision)
    await delay(this.#commitTimeoutMs, undefined, { ref: false })
    throw new Refused(timedOut())
  }

  readStream(stream: string, fromRevision: number): AsyncIterable<RawEvent[]> {
    return this.#visible(this.#log.readStream(stream, fromRevision))
  }

  async readEvent(stream: string, revision: number): Promise<RawEvent | undefined> {
    for await (const [event] of this.readStream(stream, revision)) return event
    return undefined
  }

  readAll(after: Position): AsyncIterable<RawEvent[]> {
    return this.#visible(this.#log.readAll(after))
  }

  follow(after: Position, signal: AbortSignal): AsyncIterable<RawEvent[]> {
    return this.#visible(this.#log.follow(after, signal), signal)
  }

  async head(): Promise<Position> {
    const head = await this.#log.head()
    return Math.min(head, this.#limit ?? head)
  }

  /** Leaves the cluster's log open. */
  async close() {}

  /** With a signal, waits for events that this member has yet to learn of; without one, ends there. */
  async *#visible(pages: AsyncIterable<RawEvent[]>, signal?: AbortSignal): AsyncGenerator<RawEvent[]> {
    for await (let page of pages)
      while (page.length > 0) {
        const limit = this.#limit ?? Number.POSITIVE_INFINITY
        const known = page.filter(({ position }) => position <= limit)
        if (known.length > 0) yield known
        page = page.slice(known.length)
        if (page.length === 0) break
        if (!signal) return
        await once(this.#changes, 'change', { signal }).catch(() => undefined)
        if (signal.aborted) return
      }
  }

  #become(state: State) {
    this.#state = state
    this.#changes.emit('change')
  }
}
