import type { Recorded } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'

/**
 * A rule that the events of one stream follow. Rules share no code with the decisions that made the events, so that a
 * mistake would have to be made twice to go unnoticed.
 */
export interface Rule {
  /** Takes the next event of the stream. */
  take(event: AuditedEvent, report: Report): void
  /** Called after the last event, with the time of the newest event in the log. */
  end?(newestAtMs: number, report: Report): void
}

/** An event whose shape was checked. The rules read its data by the names in `docs/ledger-format.md`. */
export type AuditedEvent = Recorded<{ type: string; data: Readonly<Record<string, unknown>> }>

export const runIdOf = ({ data }: AuditedEvent): string => String(data['runId'])
