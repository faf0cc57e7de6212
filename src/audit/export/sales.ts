import { accountIn, type RecordedEvent } from '../../../schemas/events.ts'
import type { Money, PurchasePaid } from '../../../schemas/purchase-events.ts'
import { decimalsIn } from '../../domain/decimal-amounts.ts'
import { microsOf } from '../decimal.ts'
import { CREDIT, customerOf, grantsOf, lotName } from './names.ts'

/** The money that the payment service holds. */
const MONEY = 'Assets:Payments'

const FEES = 'Expenses:Fees'
const TAX = 'Liabilities:Tax'

/** Holds the paid credits, and the money without tax from their sale. */
const SOLD = grantsOf('purchase')

/** As usual in such books, liabilities and revenues grow by negative amounts, so that an entry adds up to zero. */
export interface Posting {
  account: string
  amountMicros: number | bigint
  commodity: string
  /** The account's balance after the entry, if the log has it. */
  balanceMicros?: number
  /** The lot of an amount whose account does not name it. */
  lot?: string
}

interface SaleEntry {
  narration: string
  tags: Record<string, string | undefined>
  postings: Posting[]
}

interface Sale {
  lot: string
  money: Money
  paid: Part
  tags: Record<string, string | undefined>
  /** The standing claims. */
  claims: Map<string, Part>
}

/** An amount of money, and the tax in it. */
interface Part {
  micros: bigint
  taxMicros: bigint
}

const SALE_EVENTS = new Set([
  'PurchasePaid',
  'FeeCharged',
  'RefundRequested',
  'PaymentRefunded',
  'RefundFailed',
  'PaymentDisputed',
  'DisputeWon',
  'CreditsOwed',
  'CreditsSettled',
])

export const isOfSale = (type: string): boolean => SALE_EVENTS.has(type)

/** Books the money of payments, refunds and disputes, and owed credits. */
export class Sales {
  /** By purchase. */
  readonly #sales = new Map<string, Sale>()
  /** The sale of each claim, by account and claim. */
  readonly #claimed = new Map<string, Sale>()

  /** Takes an event of a sale. `nextLot` is the number that the account's next grant gets. */
  take({ stream, type, data }: RecordedEvent, nextLot: number): SaleEntry | undefined {
    const account = accountIn(stream) as string
    switch (type) {
      case 'PurchasePaid':
        return this.#pay(data, lotName(account, { isPaid: true, number: nextLot }))
      case 'FeeCharged':
        return this.#charge(data)
      case 'RefundRequested':
      case 'PaymentRefunded':
        return this.#claim(account, data, 'Payment refunded')
      case 'PaymentDisputed':
        return this.#claim(account, data, 'Payment disputed')
      case 'RefundFailed':
        return this.#reverse(data, 'Refund failed')
      case 'DisputeWon':
        return this.#reverse(data, 'Dispute won')
      case 'CreditsOwed':
        return this.#owe(account, data, 'Credits owed', data.amountMicros)
      case 'CreditsSettled':
        return this.#owe(account, data, 'Owed credits settled', 0 - data.amountMicros)
      default:
        return undefined
    }
  }

  #pay(data: PurchasePaid, lot: string): SaleEntry | undefined {
    const { purchaseId, paymentId, tax = '0', invoice, amount, currency } = data
    const paid = { micros: microsOf(amount), taxMicros: microsOf(tax) }
    const tags = { purchase_id: purchaseId, payment_id: paymentId, payment_invoice: invoice }
    const sale = { lot, money: { amount, currency }, paid, tags, claims: new Map() }
    this.#sales.set(purchaseId, sale)
    return moved(sale, 'Payment', paid, 1n)
  }

  #charge({ purchaseId, amount, currency: commodity }: Money & { purchaseId: string }): SaleEntry | undefined {
    const sale = this.#sales.get(purchaseId)
    const feeMicros = microsOf(amount)
    return sale && entryOf(sale, 'Fee', commodity, { [FEES]: feeMicros, [MONEY]: -feeMicros })
  }

  #claim(
    account: string,
    { purchaseId, claimId, ...money }: Money & { purchaseId: string; claimId: string },
    narration: string,
  ): SaleEntry | undefined {
    const sale = this.#sales.get(purchaseId)
    if (!sale) return undefined
    const part = partOf(sale, money)
    sale.claims.set(claimId, part)
    this.#claimed.set(`${account} ${claimId}`, sale)
    return moved(sale, narration, part, -1n, claimId)
  }

  #reverse({ purchaseId, claimId }: { purchaseId: string; claimId: string }, narration: string): SaleEntry | undefined {
    const sale = this.#sales.get(purchaseId)
    const part = sale?.claims.get(claimId)
    if (!sale || !part) return undefined
    sale.claims.delete(claimId)
    return moved(sale, narration, part, 1n, claimId)
  }

  #owe(
    account: string,
    { claimId, owedAfterMicros: balanceMicros }: { claimId: string; owedAfterMicros: number },
    narration: string,
    amountMicros: number,
  ): SaleEntry {
    const { lot, tags } = this.#claimed.get(`${account} ${claimId}`) ?? {}
    const common = { commodity: CREDIT, ...(lot !== undefined && { lot }) }
    return {
      narration,
      tags: { ...tags, claim_id: claimId },
      postings: [
        { account: `Assets:Credits:Owed:${customerOf(account)}`, amountMicros, balanceMicros, ...common },
        { account: SOLD, amountMicros: 0 - amountMicros, ...common },
      ],
    }
  }
}

const moved = (sale: Sale, narration: string, { micros, taxMicros }: Part, sign: 1n | -1n, claimId?: string) => {
  const sides = { [MONEY]: sign * micros, [TAX]: -sign * taxMicros, [SOLD]: -sign * (micros - taxMicros) }
  return entryOf(sale, narration, sale.money.currency, sides, claimId)
}

/** An entry with the amounts of accounts other than zero; undefined without any. */
const entryOf = (
  { lot, tags }: Sale,
  narration: string,
  commodity: string,
  amounts: Record<string, bigint>,
  claimId?: string,
): SaleEntry | undefined => {
  const postings = Object.entries(amounts)
    .filter(([, amountMicros]) => amountMicros !== 0n)
    .map(([account, amountMicros]) => ({ account, amountMicros, commodity, lot }))
  return postings.length > 0 ? { narration, tags: { ...tags, claim_id: claimId }, postings } : undefined
}

/**
 * The part of a payment that a claim takes back. A claim in another currency takes all that is left. Together, claims
 * take their share of the tax, rounded down to an amount of the currency, so the whole payment takes the whole tax.
 */
const partOf = ({ money, paid, claims }: Sale, { amount, currency }: Money): Part => {
  const before = { micros: 0n, taxMicros: 0n }
  for (const { micros, taxMicros } of claims.values()) {
    before.micros += micros
    before.taxMicros += taxMicros
  }
  const left = paid.micros - before.micros
  const micros = currency === money.currency ? microsOf(amount) : left
  const unit = 10n ** BigInt(PLACES - decimalsIn(money.amount))
  const share = paid.micros === 0n ? 0n : (paid.taxMicros * (before.micros + micros)) / paid.micros
  return { micros, taxMicros: share - (share % unit) - before.taxMicros }
}

/** The decimals of all amounts in the books. */
const PLACES = 6
