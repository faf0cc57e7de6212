import { Damaged } from '../ports/faults.ts'

/** Credits by origin: grants of the kind `purchase` make paid credits, all other grants free credits. */
export interface Split {
  freeMicros: number
  paidMicros: number
}

/** The remaining credits of a grant. */
interface Lot {
  isPaid: boolean
  /** The index among the lots of its side. */
  place: number
  leftMicros: number
}

/** Credits taken from a lot. */
export interface Use {
  lot: Lot
  amountMicros: number
}

/**
 * An account's remaining credits, by grant. Debits use free credits before paid credits, and older credits before newer
 * credits. A refund or a release first gives back the credits that were used last (`docs/ledger-format.md`, "Free and
 * paid credits").
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

  /** Uses credits like a debit. Throws Damaged if there are too few. */
  use(amountMicros: number): Use[] {
    const free = Math.min(amountMicros, this.#free.leftMicros)
    return [...this.#free.useOldest(free), ...this.#paid.useOldest(amountMicros - free)]
  }

  /** Uses the newest paid credits first, then credits like a debit. Throws Damaged if there are too few. */
  usePaid(amountMicros: number): Use[] {
    const paid = Math.min(amountMicros, this.#paid.leftMicros)
    return [...this.#paid.useNewest(paid), ...this.use(amountMicros - paid)]
  }

  /** Gives back used credits, last used first, and removes them from `uses`. Throws Damaged if fewer were used. */
  giveBack(uses: Use[], amountMicros: number): Split {
    const given = { freeMicros: 0, paidMicros: 0 }
    let dueMicros = amountMicros
    while (dueMicros > 0) {
      const use = uses.at(-1)
      if (!use) throw new Damaged('more credits are given back than were debited')
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

/** The free or the paid lots, oldest first. */
class Side {
  leftMicros = 0
  readonly #isPaid: boolean
  readonly #lots: Lot[] = []
  /** All lots before this one are used up, so debits skip them. */
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
