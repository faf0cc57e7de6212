import { Damaged } from '../ports/faults.ts'

/** Credits, by how they were come by: paid ones come from grants of the kind `purchase`, free ones from all others. */
export interface Split {
  freeMicros: number
  paidMicros: number
}

/** The credits that are left of one grant. */
interface Lot {
  isPaid: boolean
  /** Its place among the lots of its side. */
  place: number
  leftMicros: number
}

/** Credits that were taken from a lot. */
export interface Use {
  lot: Lot
  amountMicros: number
}

/**
 * The credits that an account has left, by grant. Debits use up free credits before paid ones, and older ones before
 * newer ones; a refund gives back first what was used last (`docs/ledger-format.md`, "Free and paid credits").
 */
export class Lots {
  readonly #free = new Side(false)
  readonly #paid = new Side(true)

  get left(): Split {
    return { freeMicros: this.#free.leftMicros, paidMicros: this.#paid.leftMicros }
  }

  grant(amountMicros: number, isPaid: boolean) {
    this.#sideOf(isPaid).grant(amountMicros)
  }

  /** Uses credits up as a debit does. Throws Damaged if there are too few. */
  use(amountMicros: number): Use[] {
    const free = Math.min(amountMicros, this.#free.leftMicros)
    return [...this.#free.useOldest(free), ...this.#paid.useOldest(amountMicros - free)]
  }

  /** Uses up the newest paid credits, and the rest as a debit does. Throws Damaged if there are too few. */
  usePaid(amountMicros: number): Use[] {
    const paid = Math.min(amountMicros, this.#paid.leftMicros)
    return [...this.#paid.useNewest(paid), ...this.use(amountMicros - paid)]
  }

  /** Gives back used credits, the last used first. Takes them out of `uses`. Throws Damaged if fewer were used. */
  giveBack(uses: Use[], amountMicros: number): Split {
    const given = { freeMicros: 0, paidMicros: 0 }
    let dueMicros = amountMicros
    while (dueMicros > 0) {
      const use = uses.at(-1)
      if (!use) throw new Damaged('more credits are refunded than were debited')
      const partMicros = Math.min(dueMicros, use.amountMicros)
      this.#sideOf(use.lot.isPaid).giveBack(use.lot, partMicros)
      given[use.lot.isPaid ? 'paidMicros' : 'freeMicros'] += partMicros
      use.amountMicros -= partMicros
      dueMicros -= partMicros
      if (use.amountMicros === 0) uses.pop()
    }
    return given
  }

  #sideOf(isPaid: boolean): Side {
    return isPaid ? this.#paid : this.#free
  }
}

/** The free lots, or the paid ones, oldest first. */
class Side {
  leftMicros = 0
  readonly #isPaid: boolean
  readonly #lots: Lot[] = []
  /** All lots before this one are used up, so that a debit need not look at them. */
  #first = 0

  constructor(isPaid: boolean) {
    this.#isPaid = isPaid
  }

  grant(amountMicros: number) {
    this.#lots.push({ isPaid: this.#isPaid, place: this.#lots.length, leftMicros: amountMicros })
    this.leftMicros += amountMicros
  }

  useOldest(amountMicros: number): Use[] {
    const uses: Use[] = []
    let dueMicros = amountMicros
    while (dueMicros > 0) {
      const lot = this.#lots[this.#first]
      dueMicros -= this.#take(lot, dueMicros, uses)
      if (lot?.leftMicros === 0) this.#first += 1
    }
    return uses
  }

  useNewest(amountMicros: number): Use[] {
    const uses: Use[] = []
    let dueMicros = amountMicros
    for (let index = this.#lots.length - 1; dueMicros > 0; index--)
      dueMicros -= this.#take(this.#lots[index], dueMicros, uses)
    return uses
  }

  giveBack(lot: Lot, amountMicros: number) {
    lot.leftMicros += amountMicros
    this.leftMicros += amountMicros
    this.#first = Math.min(this.#first, lot.place)
  }

  #take(lot: Lot | undefined, mostMicros: number, uses: Use[]): number {
    if (!lot) throw new Damaged('more credits are used than the account has')
    const amountMicros = Math.min(lot.leftMicros, mostMicros)
    if (amountMicros === 0) return 0
    lot.leftMicros -= amountMicros
    this.leftMicros -= amountMicros
    uses.push({ lot, amountMicros })
    return amountMicros
  }
}
