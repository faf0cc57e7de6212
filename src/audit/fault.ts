import type { Position, RawEvent, Recorded } from '../../schemas/recorded.ts'
import { Damaged } from '../ports/faults.ts'

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

/** What is wrong with an event, with its place; undefined if it can be taken. */
export const faultOf = (event: RawEvent, take: () => void): string | undefined => {
  try {
    take()
    return undefined
  } catch (error) {
    if (error instanceof Damaged) return placed(error.message, event)
    throw error
  }
}

const placed = (fault: string, { stream, revision }: RawEvent): string => {
  const what = fault.replace(/; see what tollgate audit verify finds$/, '')
  return what.includes(stream) ? what : `${stream}, revision ${revision}: ${what}`
}

/**
 * A rule that the events of one stream follow. Rules share no code with the decisions that made the events, so that a
 * mistake would have to be made twice to go unnoticed.
 */
export interface Rule {
  /** Takes the next event of the stream. */
  take(event: AuditedEvent, report: Report): void
  /** Called after the last event. */
  end?(report: ReportEnd): void
}

/** Reports a fault of the end of a stream; with `afterMs`, only if the log has an event after that time. */
export type ReportEnd = (what: string, afterMs?: number) => void

/** An event whose shape was checked. The rules read its data by the names in `docs/ledger-format.md`. */
export type AuditedEvent = Recorded<{ type: string; data: Readonly<Record<string, unknown>> }>

export const runIdOf = ({ data }: AuditedEvent): string => String(data['runId'])
