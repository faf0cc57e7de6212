import type { Report } from '../fault.ts'
import { SIGNS } from '../moves-credits.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** Every amount moves the balance as the event says, the balance is never negative, and no reference is used twice. */
export class Money implements Rule {
  #balanceMicros = 0
  readonly #references = new Set<unknown>()

  take({ type, data }: AuditedEvent, report: Report) {
    const sign = SIGNS[type]
    if (sign === undefined) return
    const { amountMicros, balanceAfterMicros, reference } = data
    const before = this.#balanceMicros
    const balanceMicros = before + sign * Number(amountMicros)
    if (balanceMicros !== balanceAfterMicros)
      report(`its balance is ${balanceAfterMicros}, and ${before} ${sign < 0 ? '−' : '+'} ${amountMicros} is not`)
    if (balanceMicros < 0) report(`the balance falls to ${balanceMicros}`)
    // The balance that was written continues, so that a fault is reported once.
    this.#balanceMicros = Number(balanceAfterMicros)
    if (reference === undefined) return
    if (this.#references.has(reference)) report(`its reference ${JSON.stringify(reference)} was used before`)
    this.#references.add(reference)
  }
}
