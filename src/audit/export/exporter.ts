import type { RawEvent } from '../../../schemas/recorded.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Books, LedgerLine } from '../books.ts'

/** Writes a log in one format, piece by piece. */
export interface Exporter {
  /** The text before the first event. */
  head?: string
  /** Takes the next event of an account or the catalog. Returns its text, which may be empty. Throws Damaged. */
  take(event: RawEvent): string
  /** The text after the last event. */
  end?(): string
}

/** Adds an event to the books. Throws Damaged, with the place in the log, if the event does not add up. */
export const takeLine = (books: Books, event: RawEvent): LedgerLine | undefined => {
  try {
    return books.take(event)
  } catch (error) {
    if (!(error instanceof Damaged) || error.message.includes(event.stream)) throw error
    const place = `${event.stream}, revision ${event.revision}`
    throw new Damaged(`${place}: ${error.message}; run tollgate audit verify`, { cause: error })
  }
}
