import type { Position } from '../../schemas/recorded.ts'

/** Something in the log that is wrong, or for a note unusual, and its place. */
export interface Fault {
  stream: string
  /** A description, as a clause without a full stop. */
  what: string
  /** Absent, like the next two, if no event is at fault, such as where a stream is missing. */
  revision?: number
  position?: Position
  eventId?: string
  /** The service itself can leave this behind, so it is no fault. */
  isNote?: true
}

/** Reports a fault, or a note, of the event that is being checked. */
export type Report = (what: string, isNote?: true) => void
