import type { Position, RawEvent, Recorded } from '../../schemas/recorded.ts'
import { Damaged } from '../ports/faults.ts'

/** A fault of the log, or a note about something unusual, with its place. */
export interface Fault {
  stream: string
  /** A description, as a clause without a full stop. */
  what: string
  /** The revision, position and event ID are absent if no event is at fault, for example if a stream is missing. */
  revision?: number
  position?: Position
  eventId?: string
  /** A note: the service itself can leave this behind. */
  isNote?: true
}

/** Reports a fault, or a note, of the current event. */
export type Report = (what: string, isNote?: true) => void

/** The fault of an event, with its place; undefined if it has none. */
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
  const what = fault.replace(/; run tollgate audit verify$/, '')
  return what.includes(stream) ? what : `${stream}, revision ${revision}: ${what}`
}

/**
 * A rule for the events of one stream. Rules share no code with the decisions that made the events, so only the same
 * mistake in both would go unnoticed.
 */
export interface Rule {
  /** Takes the next event of the stream. */
  take(event: AuditedEvent, report: Report): void
  /** Called after the last event. */
  end?(report: ReportEnd): void
}

/** Reports a fault at the end of a stream. With `afterMs`, it is a fault only if the log has a later event. */
export type ReportEnd = (what: string, afterMs?: number) => void

/** An event with a checked shape. The rules read its data by the names in `docs/ledger-format.md`. */
export type AuditedEvent = Recorded<{ type: string; data: Readonly<Record<string, unknown>> }>

export const runIdOf = ({ data }: AuditedEvent): string => String(data['runId'])
