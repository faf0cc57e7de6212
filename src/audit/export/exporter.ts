import type { RawEvent } from '../../../schemas/recorded.ts'

/** Turns a log into the text of one format, piece by piece. */
export interface Exporter {
  /** The text before the first event. */
  head?: string
  /** Takes the next event of an account or the catalog. Returns its text, which may be empty. Throws Damaged. */
  take(event: RawEvent): string
  /** The text after the last event. */
  end?(): string
}
