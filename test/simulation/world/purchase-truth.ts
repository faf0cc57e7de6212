import type { PurchaseRow } from '../../../schemas/views.ts'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import type { Payment } from './payments.ts'
import { MONTHLY_AMOUNT } from './purchases.ts'

interface Claim {
  kind: 'refund' | 'dispute'
  money: string
  creditsMicros: number
  state: 'requested' | 'standing' | 'reversed'
}

interface Purchase {
  stream: string
  isTopUp: boolean
  creditsMicros: number
  isClosed: boolean
  paid?: { paymentId: string; money: string }
  claims: Map<string, Claim>
}

interface Facts {
  purchaseId: string
  methodOf?: string
  claimId: string
  paymentId: string
  reference: string
  amount: string
  currency: string
  creditsMicros: number
  amountMicros: number
  owedAfterMicros: number
  balanceAfterMicros: number
}

/** Follows purchases and debts in the log, and compares them with what the payment service has done. */
export class PurchaseTruth {
  readonly #purchases = new Map<string, Purchase>()
  readonly #owed = new Map<string, number>()
  /** What the top-ups of each account have paid, by month. */
  readonly #toppedUp = new Map<string, bigint>()
  readonly #onViolation: (violation: string) => void

  constructor(onViolation: (violation: string) => void) {
    this.#onViolation = onViolation
  }

  follow(stream: string, events: NewEvent[]) {
    for (const [index, { type, data, metadata }] of events.entries()) {
      const facts = data as Facts
      if (facts.balanceAfterMicros < 0) this.#onViolation(`${stream} has ${facts.balanceAfterMicros} microcredits`)
      const owedMicros = this.owedMicros(stream)
      if (type === 'CreditsDebited' && owedMicros > 0) this.#onViolation(`${stream} owes ${owedMicros}, and runs`)
      if (type === 'CreditsOwed') this.#owe(stream, facts, facts.amountMicros)
      if (type === 'CreditsSettled') this.#owe(stream, facts, 0 - facts.amountMicros)
      if (type === 'PurchaseOpened')
        this.#purchases.set(facts.purchaseId, {
          ...{ stream, isTopUp: facts.methodOf !== undefined, creditsMicros: facts.creditsMicros },
          ...{ isClosed: false, claims: new Map() },
        })
      const purchase = this.#purchases.get(facts.purchaseId)
      if (type === 'PurchasePaid' && purchase?.isTopUp)
        this.#topUp(`${stream} ${(metadata as { at: string }).at.slice(0, 'yyyy-mm'.length)}`, facts)
      if (purchase) this.#change(purchase, type, facts, events.slice(index))
    }
  }

  owedMicros(stream: string): number {
    return this.#owed.get(stream) ?? 0
  }

  /** A client was shown a purchase: it is in the log, and paid there if it was shown so. */
  expectShown({ purchaseId, status }: PurchaseRow) {
    const purchase = this.#purchases.get(purchaseId)
    if (!purchase) this.#onViolation(`${purchaseId} was shown, and is not in the log`)
    if (status === 'paid' && !purchase?.paid) this.#onViolation(`${purchaseId} was shown as paid, and is not`)
  }

  /** The operator was told that a refund is under way. */
  expectClaim(purchaseId: string, claimId: string) {
    if (!this.#purchases.get(purchaseId)?.claims.has(claimId)) this.#onViolation(`${claimId} is not in the log`)
  }

  /** What is neither paid nor closed, and the refunds that were not asked for. */
  open(): string[] {
    return [...this.#purchases].flatMap(([purchaseId, { stream, isTopUp, paid, isClosed, claims }]) => [
      // A top-up waits while its account owes credits.
      ...(paid || isClosed || (isTopUp && this.owedMicros(stream) > 0)
        ? []
        : [`${purchaseId} is neither paid nor closed`]),
      ...[...claims].filter(([, { state }]) => state === 'requested').map(([id]) => `${id} was not asked for`),
    ])
  }

  /** The log has exactly the payments, refunds and disputes of the payment service, and takes the credits for them. */
  expectPayments(payments: ReadonlyMap<string, Payment>) {
    for (const { paymentId, purchase, money } of payments.values()) {
      const { paid } = this.#purchases.get(purchase.purchaseId) ?? {}
      if (paid?.paymentId !== paymentId || paid.money !== textOf(money))
        this.#onViolation(`${paymentId} of ${textOf(money)} is ${JSON.stringify(paid)} in the log`)
    }
    for (const [purchaseId, { paid, claims, creditsMicros }] of this.#purchases) {
      if (!paid) continue
      const payment = payments.get(paid.paymentId)
      if (!payment) return this.#onViolation(`${purchaseId} is paid with ${paid.paymentId}, which nobody has paid`)
      const standing = [...claims].filter(([, { state }]) => state !== 'reversed')
      const recorded = standing.map(([id, { kind, money }]) => `${kind} ${id.replace(' on appeal', '')}: ${money}`)
      const made = claimsOn(payment)
      if (recorded.toSorted().join() !== made.toSorted().join())
        this.#onViolation(`${purchaseId} has ${recorded}, and the payment service ${made}`)
      const takenMicros = standing.reduce((sum, [, claim]) => sum + claim.creditsMicros, 0)
      const minor = standing.reduce((sum, [, { money }]) => sum + minorOf(money), 0n)
      const whole = minorOf(paid.money)
      const shareMicros = Number((BigInt(creditsMicros) * minor + whole - 1n) / whole)
      // Each claim that was reversed may have left a rounded microcredit to another.
      if (Math.abs(takenMicros - shareMicros) > claims.size)
        this.#onViolation(`${purchaseId}: ${recorded} of ${paid.money} take ${takenMicros}, not ${shareMicros}`)
    }
  }

  #owe(stream: string, { owedAfterMicros }: Facts, byMicros: number) {
    const owedMicros = this.owedMicros(stream) + byMicros
    if (owedMicros !== owedAfterMicros || owedMicros < 0)
      this.#onViolation(`${stream} owes ${owedMicros}, and the log says ${owedAfterMicros}`)
    this.#owed.set(stream, owedMicros)
  }

  #topUp(month: string, { amount, currency }: Facts) {
    const paid = (this.#toppedUp.get(month) ?? 0n) + minorOf(amount)
    this.#toppedUp.set(month, paid)
    if (currency !== 'EUR' || paid > minorOf(MONTHLY_AMOUNT)) this.#onViolation(`top-ups of ${month} pay ${paid} cents`)
  }

  #change(purchase: Purchase, type: string, facts: Facts, rest: NewEvent[]) {
    const { purchaseId, claimId } = facts
    const claim = purchase.claims.get(claimId)
    const add = (kind: Claim['kind'], state: Claim['state'], { amount, currency, creditsMicros }: Facts) => {
      if (claim) this.#onViolation(`${claimId} of ${purchaseId} is claimed twice`)
      purchase.claims.set(claimId, { kind, state, money: textOf({ amount, currency }), creditsMicros })
    }
    if (type === 'PurchasePaid') this.#pay(purchase, facts, rest)
    if (type === 'PurchaseClosed') purchase.isClosed = true
    if (type === 'RefundRequested') add('refund', 'requested', facts)
    if (type === 'PaymentRefunded') add('refund', 'standing', facts)
    if (type === 'PaymentDisputed') add('dispute', 'standing', facts)
    if (type === 'RefundAccepted' && claim) claim.state = 'standing'
    if (type !== 'RefundFailed' && type !== 'DisputeWon') return
    if (claim) claim.state = 'reversed'
    else purchase.claims.set(claimId, { kind: 'refund', state: 'reversed', money: '', creditsMicros: 0 })
  }

  #pay(purchase: Purchase, { purchaseId, paymentId, amount, currency }: Facts, rest: NewEvent[]) {
    if (purchase.paid) this.#onViolation(`${purchaseId} is paid twice`)
    purchase.paid = { paymentId, money: textOf({ amount, currency }) }
    const isGrant = ({ type, data }: NewEvent) =>
      type === 'CreditsGranted' &&
      (data as Facts).reference === paymentId &&
      (data as Facts).amountMicros === purchase.creditsMicros
    const grants = rest.filter(isGrant).length
    if (grants !== 1) this.#onViolation(`${purchaseId} is paid with ${grants} grants`)
  }
}

const claimsOn = ({ refunds, disputes }: Payment): string[] => [
  ...refunds
    .filter(({ status }) => status !== 'failed')
    .map(({ refundKey, refundId, money }) => `refund ${refundKey ?? refundId}: ${textOf(money)}`),
  ...disputes
    .filter(({ status }) => status !== 'won')
    .map(({ disputeId, money }) => `dispute ${disputeId}: ${textOf(money)}`),
]

const textOf = ({ amount, currency }: { amount: string; currency: string }) => `${amount} ${currency}`

const minorOf = (money: string) => BigInt(money.replaceAll(/\D/g, ''))
