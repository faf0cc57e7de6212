import type { Recorded } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'

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
