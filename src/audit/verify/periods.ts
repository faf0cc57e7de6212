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
  take({ type, data, metadata }: AuditedEvent, sealAt: (number: number) => NewestSeal | undefined, report: Report) {
    const { period } = data as { period: string }
    const end = startOf(monthAfter(period))
    if (metadata.at < end) report(`its time ${metadata.at} is before the end of ${period}`)
    if (type !== 'PeriodClosed') return
    const closed = data as PeriodClosed
    this.#compare(closed, end, sealAt(closed.seal.number), report)
    if (this.#last && period <= this.#last.period) report(`${period} was closed before, with ${this.#last.period}`)
    else if (this.#last && closed.seal.events < this.#last.seal.events)
      report(`its seal covers ${closed.seal.events} events, and that of ${this.#last.period} ${this.#last.seal.events}`)
    this.#last = closed
  }

  #compare({ period, seal: named }: PeriodClosed, end: string, seal: NewestSeal | undefined, report: Report) {
    if (!seal || seal.link !== named.link)
      report(`the log does not hold its seal ${named.number}:${named.link} before it`)
    else if (seal.events !== named.events)
      report(`its seal covers ${seal.events} events, and not the ${named.events} that it names`)
    if (seal && seal.at < end) report(`its seal ${seal.number} was made at ${seal.at}, before the end of ${period}`)
  }
}
