import type { Position, RawEvent } from '../../schemas/recorded.ts'

/**
 * The source of truth: append-only streams of events in one global order. A read shows every append that succeeded
 * before, in any process. So a log with several servers must be read at its leader.
 */
export interface EventLog {
  /**
   * Appends events to a stream, all or none. Resolves once they are durable. `expectedRevision` is the revision of the
   * last event that the writer knows, or NO_STREAM. Rejects with RevisionConflict if another writer was faster, and
   * with Unavailable if nothing was written. After any other rejection, the outcome is unknown: read the stream and
   * look for the IDs.
   */
  append(stream: string, events: NewEvent[], expectedRevision: number): Promise<AppendResult>
  /** The events of a stream from a revision on, in pages, up to its current end. */
  readStream(stream: string, fromRevision: number): AsyncIterable<RawEvent[]>
  /** The event at a revision of a stream; undefined if the stream ends before it. */
  readEvent(stream: string, revision: number): Promise<RawEvent | undefined>
  /** All events after a position, in pages, up to the current end of the log. */
  readAll(after: Position): AsyncIterable<RawEvent[]>
  /**
   * Like readAll, then new events until the signal aborts. Reads a page only after the consumer has taken the previous
   * one.
   */
  follow(after: Position, signal: AbortSignal): AsyncIterable<RawEvent[]>
  /** The position of the last event, or BEFORE_FIRST. */
  head(): Promise<Position>
  /**
   * The position of a stream's last event, by any process, or BEFORE_FIRST. Only an embedded log can tell without a
   * wait.
   */
  lastPosition?(stream: string): Position
  close(): Promise<void>
}

/** The part of a log that an audit needs. */
export interface ReadableLog extends Pick<EventLog, 'readAll' | 'readStream' | 'readEvent' | 'head' | 'close'> {
  /**
   * Like readAll, but skips the contents of events in unwanted streams, which takes a quarter of the time. Absent from
   * logs that cannot skip.
   */
  skimAll?(after: Position, isWanted: (stream: string) => boolean): AsyncIterable<(RawEvent | PassedEvent)[]>
}

/** An event of which only the place was read. */
export type PassedEvent = Pick<RawEvent, 'stream' | 'position'>

/** An event to append. Its ID is fixed before the first attempt, so a retry is recognised. */
export interface NewEvent {
  id: string
  type: string
  data: unknown
  metadata: unknown
}

export interface AppendResult {
  /** The revision and position of the append's last event. */
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
