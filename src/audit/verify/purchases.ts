import type { AuditedEvent, Report, Rule } from '../fault.ts'

interface Claim {
  kind: 'refund' | 'dispute'
  amount: bigint
  creditsMicros: number
  withdrawnMicros: number
  bonusMicros: number
  owedMicros: number
  settledMicros: number
  isReversed: boolean
}

interface Purchase {
  creditsMicros: number
  bonusMicros: number
  paid?: { paymentId: unknown; amount: bigint; currency: unknown; lot?: number; bonusLot?: number; hasFee?: true }
  claims: Map<unknown, Claim>
}

/** A movement that must follow in the append of its cause. */
interface Expected {
  type: string
  data: Readonly<Record<string, unknown>>
}

/**
 * A purchase is paid once and grants its credits; claims take their share of what is left of its lots; and what is owed
 * is what disputes could not take and nobody has paid.
 */
export class Purchases implements Rule {
  readonly #purchases = new Map<unknown, Purchase>()
  #owedMicros = 0
  #expected: Expected[] = []

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    if (type === 'CreditsDebited' && this.#owedMicros > 0) report(`the account owes ${this.#owedMicros} microcredits`)
    this.#meet(event, report)
    const purchaseId = data['purchaseId']
    const purchase = this.#purchases.get(purchaseId)
    if (purchaseId !== undefined && type !== 'PurchaseOpened' && !purchase)
      return report(`${purchaseId} was not opened`)
    switch (type) {
      case 'PurchaseOpened':
        if (purchase) report(`${purchaseId} was opened before`)
        this.#purchases.set(purchaseId, {
          creditsMicros: Number(data['creditsMicros']),
          bonusMicros: Number(data['bonusMicros'] ?? 0),
          claims: new Map(),
        })
        return
      case 'PurchasePaid':
        return this.#pay(purchase as Purchase, data, report)
      case 'FeeCharged':
        if (!purchase?.paid) report(`${purchaseId} was not paid`)
        else if (purchase.paid.hasFee) report(`the fee of ${purchaseId} was charged before`)
        else purchase.paid.hasFee = true
        return
      case 'RefundRequested':
      case 'PaymentRefunded':
      case 'PaymentDisputed':
        return this.#claim(purchase as Purchase, event, report)
      case 'RefundFailed':
      case 'DisputeWon':
        return this.#reverse(purchase as Purchase, data['claimId'], report)
      case 'RefundAccepted':
        if (!purchase?.claims.has(data['claimId'])) report(`the refund ${data['claimId']} was not requested`)
        return
      case 'CreditsOwed':
      case 'CreditsSettled':
        return this.#owe(data, type === 'CreditsOwed' ? 1 : -1, report)
    }
  }

  end(report: (what: string) => void) {
    for (const { type, data } of this.#expected) report(`the stream ends before ${type} of ${data['amountMicros']}`)
    for (const [purchaseId, purchase] of this.#purchases) {
      const { taken, due } = sharesOf(purchase)
      // Each claim that has ended may have left a rounded microcredit to another.
      if (Math.abs(due - taken) > purchase.claims.size)
        report(`the claims of ${purchaseId} have taken ${taken} in the end, not ${due}`)
    }
  }

  /** Compares an event with the next one that an earlier event calls for. */
  #meet({ type, data }: AuditedEvent, report: Report) {
    // A withdrawal may be followed by its notice.
    if (type === 'NoticeRaised') return
    const next = this.#expected.shift()
    if (!next) return
    const isMet = next.type === type && Object.entries(next.data).every(([field, value]) => data[field] === value)
    if (!isMet) {
      report(`it is not the ${next.type} of ${next.data['amountMicros']} that an earlier event requires`)
      this.#expected = []
    } else if (next.type === 'CreditsGranted') this.#addLot(next.data['reference'], data)
  }

  /** Remembers the lots of a payment. */
  #addLot(reference: unknown, { lot }: AuditedEvent['data']) {
    for (const { paid } of this.#purchases.values()) {
      if (paid && reference === paid.paymentId) paid.lot ??= Number(lot)
      if (paid && reference === `${paid.paymentId} bonus`) paid.bonusLot ??= Number(lot)
    }
  }

  #pay(purchase: Purchase, { purchaseId, paymentId, amount, currency }: AuditedEvent['data'], report: Report) {
    if (purchase.paid) report(`${purchaseId} was paid before`)
    purchase.paid = { paymentId, amount: minorOf(amount), currency }
    const { creditsMicros, bonusMicros } = purchase
    this.#expect('CreditsGranted', { amountMicros: creditsMicros, kind: 'purchase', reference: paymentId })
    this.#expect('CreditsGranted', { amountMicros: bonusMicros, kind: 'courtesy', reference: `${paymentId} bonus` })
  }

  #claim(purchase: Purchase, { type, data }: AuditedEvent, report: Report) {
    const { claimId } = data
    const { paid, claims } = purchase
    if (!paid) return report('the purchase was not paid')
    if (claims.has(claimId)) return report(`${claimId} was recorded before`)
    const claim: Claim = {
      kind: type === 'PaymentDisputed' ? 'dispute' : 'refund',
      // A claim in another currency is for all that was paid.
      amount: data['currency'] === paid.currency ? minorOf(data['amount']) : paid.amount,
      creditsMicros: Number(data['creditsMicros']),
      withdrawnMicros: Number(data['withdrawnMicros']),
      bonusMicros: Number(data['bonusWithdrawnMicros'] ?? 0),
      ...{ owedMicros: 0, settledMicros: 0, isReversed: false },
    }
    claims.set(claimId, claim)
    const shares = sharesOf(purchase)
    const due = Math.max(0, shares.due - (shares.taken - claim.creditsMicros))
    if (claim.creditsMicros !== due) report(`${claimId} takes ${claim.creditsMicros}, not ${due}`)
    if (claim.withdrawnMicros > claim.creditsMicros) report(`${claimId} withdraws more than it takes`)
    this.#expect('CreditsWithdrawn', { amountMicros: claim.withdrawnMicros, reference: claimId, lot: paid.lot })
    const bonus = { amountMicros: claim.bonusMicros, reference: `${claimId} bonus`, lot: paid.bonusLot }
    this.#expect('CreditsWithdrawn', bonus)
    const owedMicros = Number(data['owedMicros'] ?? 0)
    if (owedMicros > claim.creditsMicros - claim.withdrawnMicros) report(`${claimId} owes more than it could not take`)
    this.#expect('CreditsOwed', { amountMicros: owedMicros, claimId })
  }

  #reverse({ paid, claims }: Purchase, claimId: unknown, report: Report) {
    const claim = claims.get(claimId)
    // The report of a failed refund may be the first of it.
    if (!claim) return void claims.set(claimId, { ...NONE, isReversed: true })
    if (claim.isReversed) report(`${claimId} was reversed before`)
    claim.isReversed = true
    this.#expect('CreditsSettled', { amountMicros: claim.owedMicros, claimId })
    const amountMicros = claim.withdrawnMicros + claim.settledMicros
    this.#expect('CreditsGranted', { amountMicros, kind: 'purchase', reference: `${claimId} returned`, lot: paid?.lot })
    const reference = `${claimId} bonus returned`
    this.#expect('CreditsGranted', {
      amountMicros: claim.bonusMicros,
      kind: 'courtesy',
      reference,
      lot: paid?.bonusLot,
    })
  }

  #owe({ claimId, amountMicros, owedAfterMicros }: AuditedEvent['data'], sign: 1 | -1, report: Report) {
    const claim = [...this.#purchases.values()].map(({ claims }) => claims.get(claimId)).find(found => found)
    const owedMicros = this.#owedMicros + sign * Number(amountMicros)
    if (owedMicros !== owedAfterMicros) report(`${owedAfterMicros} are owed after it, and it makes ${owedMicros}`)
    this.#owedMicros = Number(owedAfterMicros)
    if (!claim) return report(`there is no claim ${claimId}`)
    claim.owedMicros += sign * Number(amountMicros)
    if (claim.owedMicros < 0) report(`more is settled than ${claimId} owes`)
    // What ends the debt of a dispute that was won is no payment.
    if (sign < 0 && !claim.isReversed) claim.settledMicros += Number(amountMicros)
  }

  /** Nothing follows for nothing. */
  #expect(type: string, data: Expected['data']) {
    if (data['amountMicros'] !== 0) this.#expected.push({ type, data })
  }
}

const NONE: Claim = {
  ...{ kind: 'refund', amount: 0n, creditsMicros: 0, withdrawnMicros: 0, bonusMicros: 0 },
  ...{ owedMicros: 0, settledMicros: 0, isReversed: false },
}

/** The credits that the standing claims of a purchase have taken, and those that their money had bought. */
const sharesOf = ({ creditsMicros, paid, claims }: Purchase): { taken: number; due: number } => {
  const standing = [...claims.values()].filter(({ isReversed }) => !isReversed)
  const taken = standing.reduce((sum, each) => sum + each.creditsMicros, 0)
  const amount = standing.reduce((sum, each) => sum + each.amount, 0n)
  return { taken, due: paid && standing.length > 0 ? shareOf(creditsMicros, amount, paid.amount) : 0 }
}

/** The credits that a part of a payment has bought, rounded up, and never more than all. */
const shareOf = (micros: number, part: bigint, whole: bigint): number => {
  const share = whole === 0n ? BigInt(micros) : (BigInt(micros) * part + whole - 1n) / whole
  return Number(share < BigInt(micros) ? share : BigInt(micros))
}

const minorOf = (amount: unknown): bigint => BigInt(String(amount).replace('.', ''))
