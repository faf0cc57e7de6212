import type { PeriodClosed } from '../../../schemas/period-events.ts'
import type { Report } from '../fault.ts'
import { monthAfter, startOf } from '../periods/months.ts'
import type { AuditedEvent } from './rule.ts'
import type { NewestSeal } from './seals.ts'

/**
 * Months are closed after their end, in order and once, each with an earlier seal of the log that was made after the
 * end of the month (`docs/ledger-format.md`, "Periods").
 */
export class Periods {
  #last: PeriodClosed | undefined

  /** Takes the next event of the stream of periods. `sealAt` finds a seal that precedes it in the log. */
  take({ type, data }: AuditedEvent, sealAt: (number: number) => NewestSeal | undefined, report: Report) {
    if (type !== 'PeriodClosed') return
    const closed = data as PeriodClosed
    const { period, seal } = closed
    this.#compare(closed, sealAt(seal.number), report)
    if (this.#last && period <= this.#last.period) report(`${period} was closed before, with ${this.#last.period}`)
    else if (this.#last && seal.events < this.#last.seal.events)
      report(`its seal covers ${seal.events} events, and that of ${this.#last.period} ${this.#last.seal.events}`)
    this.#last = closed
  }

  #compare({ period, seal: named }: PeriodClosed, seal: NewestSeal | undefined, report: Report) {
    if (!seal || seal.link !== named.link)
      report(`the log does not hold its seal ${named.number} with the link ${named.link} before it`)
    else if (seal.events !== named.events)
      report(`its seal covers ${seal.events} events, and not the ${named.events} that it names`)
    // The time of the closing itself follows a clock that may have jumped back since.
    if (seal && seal.at < startOf(monthAfter(period)))
      report(`its seal ${seal.number} was made at ${seal.at}, before the end of ${period}`)
  }
}
