import type { Position, RawEvent } from '../../schemas/recorded.ts'

/** The truth: streams of events in one order. Nothing in it is ever changed or taken away. */
export interface EventLog {
  /**
   * Appends events to a stream, all or none, and resolves when they are durable.
   * `expectedRevision` is that of the last event the writer knows, or NO_STREAM.
   * Rejects with RevisionConflict when another writer was there first, and with Unavailable when the log takes no
   * writes for now. Any other rejection leaves it open whether the events were written: read the stream and look for
   * their ids.
   */
  append(stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended>
  /** The events of a stream from a revision on, page by page, up to where the stream ends now. */
  readStream(stream: string, fromRevision: number): AsyncIterable<RawEvent[]>
  /** All events after a position, page by page, up to where the log ends now. */
  readAll(after: Position): AsyncIterable<RawEvent[]>
  /** Like readAll, then what comes, until the signal aborts. A page is read only when the one before was taken. */
  follow(after: Position, signal: AbortSignal): AsyncIterable<RawEvent[]>
  /** The position of the last event, or BEFORE_FIRST. */
  head(): Promise<Position>
  close(): Promise<void>
}

/** An event on its way into the log. The id is fixed before the first attempt. */
export interface NewEvent {
  id: string
  type: string
  data: unknown
  metadata: unknown
}

export interface Appended {
  /** Revision and position of the last event of the append. */
  revision: number
  position: Position
}

/** The expected revision of a stream that must not exist yet. */
export const NO_STREAM = -1

/** A position before all others. */
export const BEFORE_FIRST: Position = -1

/** Another writer appended to the stream first. */
export class RevisionConflict extends Error {
  override name = 'RevisionConflict'
  constructor(stream: string, expectedRevision: number) {
    super(`the stream ${stream} does not end at revision ${expectedRevision}`)
  }
}
