import type { GrantKind, LotUse } from '../../schemas/account-events.ts'
import { Damaged } from '../ports/faults.ts'

/** Credits by origin: grants of the kind `purchase` make paid credits, all other grants free credits. */
export interface Split {
  freeMicros: number
  paidMicros: number
}

/** The credits of a grant. */
export interface Lot {
  /** Counts the grants of the account from 1. */
  number: number
  isPaid: boolean
  leftMicros: number
  expiresAt: string | undefined
  hasExpired: boolean
}

/** Credits taken from a lot. */
export interface Use {
  lot: Lot
  amountMicros: number
}

interface Granted {
  kind: GrantKind
  amountMicros: number
  lot?: number | undefined
  expiresAt?: string | undefined
}

/**
 * An account's credits, by grant. Debits use those that expire first; among these, free credits before paid credits;
 * and among these, older credits before newer ones. A refund or a release first gives back the credits that were used
 * last (`docs/ledger-format.md`, "Lots").
 */
export class Lots {
  readonly #all: Lot[] = []
  /** The lots with credits, in the order of their use. */
  readonly #order: Lot[] = []
  #paidMicros = 0
  #freeMicros = 0
  #isNumbered = false

  get left(): Split {
    return { freeMicros: this.#freeMicros, paidMicros: this.#paidMicros }
  }

  /** All lots, in the order of their grants. */
  get all(): readonly Lot[] {
    return this.#all
  }

  /** Whether grants say the numbers of their lots. From then on, refunds of ended runs say which lots get credits. */
  get isNumbered(): boolean {
    return this.#isNumbered
  }

  /** Adds a new lot, or gives credits back to one that they were withdrawn from. Throws Damaged for other numbers. */
  grant({ kind, amountMicros, lot: number, expiresAt }: Granted): Lot {
    this.#isNumbered ||= number !== undefined
    const next = this.#all.length + 1
    if (number !== undefined && number > next) throw new Damaged(`it is lot ${number}, and the next lot is ${next}`)
    const known = number === undefined ? undefined : this.#all[number - 1]
    if (known && known.isPaid !== (kind === 'purchase')) throw new Damaged(`lot ${number} is of another kind`)
    const lot = known ?? { number: next, isPaid: kind === 'purchase', leftMicros: 0, expiresAt, hasExpired: false }
    if (!known) this.#all.push(lot)
    this.#add(lot, amountMicros)
    return lot
  }

  /** Uses credits like a debit. Throws Damaged if there are too few. */
  use(amountMicros: number): Use[] {
    return this.#take(this.#order, amountMicros)
  }

  /**
   * Withdraws credits of a lot. Without a lot, uses the newest paid credits first for a purchase, then credits like a
   * debit. Throws Damaged if there are too few.
   */
  withdraw({ kind, amountMicros, lot }: Granted): Use[] {
    if (lot !== undefined) return this.#take([this.lot(lot)], amountMicros)
    const paid = kind === 'purchase' ? this.#order.filter(({ isPaid }) => isPaid).sort(newestFirst) : []
    return this.#take([...paid, ...this.#order.filter(each => !paid.includes(each))], amountMicros)
  }

  /** Gives back used credits, last used first, and removes them from `uses`. Throws Damaged if fewer were used. */
  giveBack(uses: Use[], amountMicros: number): Use[] {
    const given: Use[] = []
    let dueMicros = amountMicros
    while (dueMicros > 0) {
      const use = uses.at(-1)
      if (!use) throw new Damaged('more credits are given back than were debited')
      const partMicros = Math.min(dueMicros, use.amountMicros)
      this.#add(use.lot, partMicros)
      given.push({ lot: use.lot, amountMicros: partMicros })
      use.amountMicros -= partMicros
      dueMicros -= partMicros
      if (use.amountMicros === 0) uses.pop()
    }
    return given
  }

  /** Gives credits back to the lots that an event names. Throws Damaged if these are not all of the credits. */
  giveBackTo(named: readonly LotUse[], amountMicros: number): Use[] {
    const given = named.map(({ lot, amountMicros }) => ({ lot: this.lot(lot), amountMicros }))
    const sumMicros = given.reduce((sum, each) => sum + each.amountMicros, 0)
    if (sumMicros !== amountMicros) throw new Damaged(`it gives ${sumMicros} of ${amountMicros} back to lots`)
    for (const { lot, amountMicros } of given) this.#add(lot, amountMicros)
    return given
  }

  /** Ends a lot with what is left of it. Throws Damaged if it does not end, not yet, or not with this amount. */
  expire({ lot: number, amountMicros }: LotUse, at: string): Use[] {
    const lot = this.lot(number)
    const { expiresAt, leftMicros } = lot
    // What returns to a lot that has ended ends by the same event, whichever clock its process has.
    if (!lot.hasExpired && (expiresAt === undefined || expiresAt > at))
      throw new Damaged(`lot ${number} ${expiresAt === undefined ? 'never expires' : `expires at ${expiresAt}`}`)
    if (leftMicros !== amountMicros) throw new Damaged(`lot ${number} has ${leftMicros} left, not ${amountMicros}`)
    if (lot.hasExpired && amountMicros === 0) throw new Damaged(`lot ${number} has expired before`)
    const uses = amountMicros > 0 ? this.#take([lot], amountMicros) : []
    lot.hasExpired = true
    return uses
  }

  /** Postpones the expiry of a lot. Throws Damaged if it has expired, or would end earlier. */
  extend({ lot: number, expiresAt }: { lot: number; expiresAt?: string }) {
    const lot = this.lot(number)
    if (lot.hasExpired) throw new Damaged(`lot ${number} has expired before`)
    if (lot.expiresAt === undefined || (expiresAt !== undefined && expiresAt <= lot.expiresAt))
      throw new Damaged(`lot ${number} would not end later`)
    const isIn = this.#remove(lot)
    lot.expiresAt = expiresAt
    if (isIn) this.#insert(lot)
  }

  /** Throws Damaged for a number that no grant has. */
  lot(number: number): Lot {
    const lot = this.#all[number - 1]
    if (!lot) throw new Damaged(`there is no lot ${number}`)
    return lot
  }

  #take(order: readonly Lot[], amountMicros: number): Use[] {
    const uses: Use[] = []
    let dueMicros = amountMicros
    // A lot that is used up leaves the order.
    for (const lot of [...order]) {
      if (dueMicros === 0) break
      const partMicros = Math.min(lot.leftMicros, dueMicros)
      if (partMicros === 0) continue
      this.#add(lot, 0 - partMicros)
      uses.push({ lot, amountMicros: partMicros })
      dueMicros -= partMicros
    }
    if (dueMicros > 0) throw new Damaged('more credits are used than the account has')
    return uses
  }

  #add(lot: Lot, amountMicros: number) {
    const wasEmpty = lot.leftMicros === 0
    lot.leftMicros += amountMicros
    if (lot.isPaid) this.#paidMicros += amountMicros
    else this.#freeMicros += amountMicros
    if (lot.leftMicros === 0) this.#remove(lot)
    else if (wasEmpty) this.#insert(lot)
  }

  #insert(lot: Lot) {
    let place = this.#order.length
    while (place > 0 && isBefore(lot, this.#order[place - 1] as Lot)) place -= 1
    this.#order.splice(place, 0, lot)
  }

  #remove(lot: Lot): boolean {
    const place = this.#order.indexOf(lot)
    if (place !== -1) this.#order.splice(place, 1)
    return place !== -1
  }
}

const newestFirst = (one: Lot, other: Lot) => other.number - one.number

/** Whether the credits of a lot are used before those of another. */
const isBefore = (one: Lot, other: Lot): boolean => {
  const [oneEnd, otherEnd] = [one.expiresAt ?? NEVER, other.expiresAt ?? NEVER]
  if (oneEnd !== otherEnd) return oneEnd < otherEnd
  return one.isPaid === other.isPaid ? one.number < other.number : other.isPaid
}

/** After every time. */
const NEVER = '9999-12-31T23:59:59.999Z'
