/** The place of an event in the whole log. Positions rise, and may have gaps. */
export type Position = number

/** The fields of all events. */
export interface AnyEvent {
  type: string
  data: unknown
}

/** An event in the log, before it is checked. */
export interface RawEvent {
  id: string
  stream: string
  /** The number in its stream, from 0, without gaps. */
  revision: number
  position: Position
  type: string
  data: unknown
  /** The data as the log holds it, if `data` is not that. Links cover it. */
  stored?: unknown
  metadata: unknown
}

/** The metadata of every event. `actor` identifies the caller. */
export interface Metadata {
  /** The ledger format; absent in format 1. */
  format?: number
  /** When the event happened, in ISO 8601; never earlier than the previous event of the stream. */
  at: string
  /** The time by the clock, if it was behind `at`. Durations count from it. */
  clock?: string
  actor: object
  requestId?: string
  /** Chains the event to the previous event of its stream; see `src/engine/log/hash-chain.ts`. */
  hash: string
}

/** An event that was read from the log and checked against its schema. */
export type Recorded<Event extends AnyEvent = AnyEvent> = Event & {
  id: string
  stream: string
  revision: number
  position: Position
  /** As in RawEvent. */
  stored?: unknown
  metadata: Metadata
}

/** Converts an event of an older shape into the next shape; undefined for any other event. */
export type Upcast = (old: RawEvent) => AnyEvent | undefined

/** The event's time by the clock of the process that recorded it, in ISO 8601. Durations count from this time. */
export const clockOf = ({ metadata: { at, clock = at } }: { metadata: { at: string; clock?: string } }): string => clock
