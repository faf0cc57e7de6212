import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import {
  BEFORE_FIRST,
  type EventLog,
  type NewEvent,
  NO_STREAM,
  RevisionConflict,
} from '../../../src/ports/event-log.ts'

/** Events in one page, few, so that reads take several. */
const PAGE = 50

/** An event log in memory, for any number of processes. Events are stored as JSON, so that no two readers share one. */
export class SimulatedLog implements EventLog {
  readonly #events: string[] = []
  readonly #streams = new Map<string, Position[]>()
  readonly #waiting = new Set<() => void>()
  /** Called with each append and the position of its first event. */
  onAppend: (stream: string, events: NewEvent[], firstPosition: Position) => void = () => undefined

  async append(...[stream, events, expectedRevision]: Parameters<EventLog['append']>) {
    const positions = this.#streams.get(stream) ?? []
    const firstPosition = this.#events.length
    if (positions.length - 1 !== expectedRevision) return this.#recognize(stream, events, expectedRevision)
    for (const { id, type, data, metadata } of events) {
      const position = this.#events.length
      const event = { id, stream, revision: positions.length, position, type, data, metadata }
      positions.push(position)
      this.#events.push(JSON.stringify(event))
    }
    if (events.length > 0) this.#streams.set(stream, positions)
    this.onAppend(stream, events, firstPosition)
    for (const wake of this.#waiting) wake()
    return { revision: positions.length - 1, position: positions.at(-1) ?? BEFORE_FIRST }
  }

  async *readStream(stream: string, fromRevision: number) {
    for (let revision = fromRevision; ; ) {
      const page = (this.#streams.get(stream) ?? []).slice(revision, revision + PAGE).map(at => this.#eventAt(at))
      if (page.length === 0) return
      yield page
      revision += page.length
    }
  }

  async readEvent(stream: string, revision: number) {
    const at = this.#streams.get(stream)?.[revision]
    return at === undefined ? undefined : this.#eventAt(at)
  }

  async *readAll(after: Position) {
    for (let position = after + 1; position < this.#events.length; ) {
      const page = this.#page(position)
      yield page
      position += page.length
    }
  }

  async *follow(after: Position, signal: AbortSignal) {
    for (let position = after + 1; !signal.aborted; ) {
      const page = this.#page(position)
      if (page.length > 0) yield page
      else await this.#nextAppend(signal)
      position += page.length
    }
  }

  async head(): Promise<Position> {
    return this.#events.length - 1
  }

  async close() {}

  #page(position: Position): RawEvent[] {
    const length = Math.min(PAGE, this.#events.length - position)
    return Array.from({ length: Math.max(0, length) }, (_, index) => this.#eventAt(position + index))
  }

  #eventAt(position: Position): RawEvent {
    return JSON.parse(this.#events[position] as string)
  }

  #nextAppend(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  /** A repeat of an append that was written succeeds again, as with EventStoreDB. */
  #recognize(...[stream, events, expectedRevision]: Parameters<EventLog['append']>) {
    const positions = this.#streams.get(stream) ?? []
    const written = positions.slice(expectedRevision + 1, expectedRevision + 1 + events.length)
    const isRepeat =
      expectedRevision >= NO_STREAM &&
      events.length > 0 &&
      written.length === events.length &&
      written.every((at, index) => this.#eventAt(at).id === events[index]?.id)
    if (!isRepeat) throw new RevisionConflict(stream, expectedRevision)
    return { revision: expectedRevision + events.length, position: written.at(-1) as Position }
  }
}
