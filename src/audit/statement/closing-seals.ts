import { Damaged } from '../../ports/faults.ts'
import type { Closing } from '../periods/closings.ts'
import type { NewestSeal } from '../verify/seals.ts'

/** Looks for the seals with which months were closed. */
export class ClosingSeals {
  readonly #missing: Set<Closing>

  constructor(closings: readonly Closing[]) {
    this.#missing = new Set(closings)
  }

  /** Takes the next seal of the log. Throws Damaged if a closing names another one by its number. */
  take({ number, link, events }: NewestSeal) {
    for (const closing of this.#missing) {
      const { seal, month } = closing
      if (seal.number !== number) continue
      if (seal.link !== link || seal.events !== events)
        throw new Damaged(`seal ${number} is not the one with which ${month} was closed`)
      this.#missing.delete(closing)
    }
  }

  /** Describes the first closing up to a month whose seal was not found. */
  fault(upTo: string | undefined): string | undefined {
    const missing = [...this.#missing].find(({ month }) => upTo === undefined || month <= upTo)
    return missing && `the log does not hold seal ${missing.seal.number}, with which ${missing.month} was closed`
  }
}
