import type { PurchaseRow } from '../../../schemas/views.ts'
import { decimalsOf } from '../../domain/currencies.ts'
import { sumOfAmounts } from '../../domain/decimal-amounts.ts'

/** The payments from a country in a currency, with their refunds and disputes. Amounts are decimal strings. */
export interface CountrySales {
  /** Undefined for purchases whose invoice address has no country. */
  country: string | undefined
  currency: string
  purchases: number
  /** With the tax. */
  amount: string
  tax: string
  refunded: string
  disputed: string
}

/**
 * Adds up paid purchases by country and currency. Refunds and disputes count with their purchase, unless they were
 * reversed.
 */
export const salesByCountry = (purchases: Iterable<PurchaseRow>): CountrySales[] => {
  const sums = new Map<string, Sums>()
  const sumsOf = ({ country }: PurchaseRow, currency: string): Sums => {
    const key = `${country ?? ''} ${currency}`
    const found = sums.get(key) ?? { country, currency, purchases: 0, amount: [], tax: [], refund: [], dispute: [] }
    sums.set(key, found)
    return found
  }
  for (const purchase of purchases) {
    if (purchase.status !== 'paid') continue
    const paid = sumsOf(purchase, purchase.currency)
    paid.purchases += 1
    paid.amount.push(purchase.amount)
    if (purchase.tax !== undefined) paid.tax.push(purchase.tax)
    // A bank may dispute in its own currency.
    for (const { kind, amount, currency } of standingClaims(purchase)) sumsOf(purchase, currency)[kind].push(amount)
  }
  return [...sums.keys()].sort().map(key => totalOf(sums.get(key) as Sums))
}

/** The refunds and disputes that were not reversed. */
export const standingClaims = ({ claims = [] }: PurchaseRow) =>
  claims.filter(({ reversedAt }) => reversedAt === undefined)

interface Sums {
  country: string | undefined
  currency: string
  purchases: number
  amount: string[]
  tax: string[]
  refund: string[]
  dispute: string[]
}

const totalOf = ({ country, currency, purchases, amount, tax, refund, dispute }: Sums): CountrySales => {
  const sum = (amounts: string[]) => sumOfAmounts(amounts, decimalsOf(currency) ?? 0)
  return {
    ...{ country, currency, purchases },
    ...{ amount: sum(amount), tax: sum(tax), refunded: sum(refund), disputed: sum(dispute) },
  }
}
