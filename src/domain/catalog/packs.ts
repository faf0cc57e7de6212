import { fromJS, is } from 'immutable'
import type { CustomAmount, Pack, PriceList } from '../../../schemas/packs.ts'
import { MONEY_AMOUNT } from '../../../schemas/primitives.ts'
import { decimalsOf, stepOf } from '../currencies.ts'
import { decimalsIn, decimalText, minorOf } from '../decimal-amounts.ts'

/** The price list in force. A purchase records the revision of its event. */
export interface PublishedPacks extends PriceList {
  revision: number
  byHand: boolean
}

/** A fault that the schema cannot express. `path` is a JSON Pointer into the price list. */
export type PacksFault = { path: string } & (
  | { code: 'id_repeated' }
  | { code: 'currency_unknown' }
  /** The amount has other decimals than its currency. */
  | { code: 'decimals_wrong'; decimals: number }
  | { code: 'amount_zero' }
  /** The last of three decimals is not zero. */
  | { code: 'amount_inexact' }
  | { code: 'bounds_reversed' }
  /** The price of the most credits has too many digits. */
  | { code: 'price_too_high' }
)

/** The first fault of a price list; undefined if it is valid. */
export const findPacksFault = ({ packs, customAmount }: PriceList): PacksFault | undefined => {
  for (const [index, pack] of packs.entries()) {
    const fault = findPackFault(pack, `/packs/${index}`)
    if (fault) return fault
    if (packs.slice(0, index).some(({ id }) => id === pack.id))
      return { path: `/packs/${index}/id`, code: 'id_repeated' }
  }
  return customAmount && findCustomAmountFault(customAmount, '/customAmount')
}

const findPackFault = ({ amount, currency }: Pack, path: string): PacksFault | undefined => {
  const decimals = decimalsOf(currency)
  if (decimals === undefined) return { path: `${path}/currency`, code: 'currency_unknown' }
  const at = `${path}/amount`
  if (decimalsIn(amount) !== decimals) return { path: at, code: 'decimals_wrong', decimals }
  const minor = minorOf({ amount })
  if (minor === 0n) return { path: at, code: 'amount_zero' }
  return minor % stepOf(currency) === 0n ? undefined : { path: at, code: 'amount_inexact' }
}

const findCustomAmountFault = (customAmount: CustomAmount, path: string): PacksFault | undefined => {
  const { minCreditsMicros, maxCreditsMicros, amountPerCredit, currency } = customAmount
  if (decimalsOf(currency) === undefined) return { path: `${path}/currency`, code: 'currency_unknown' }
  if (/^[0.]*$/.test(amountPerCredit)) return { path: `${path}/amountPerCredit`, code: 'amount_zero' }
  if (minCreditsMicros > maxCreditsMicros) return { path: `${path}/maxCreditsMicros`, code: 'bounds_reversed' }
  return MONEY.test(priceOfCredits(customAmount, maxCreditsMicros))
    ? undefined
    : { path: `${path}/maxCreditsMicros`, code: 'price_too_high' }
}

const MONEY = new RegExp(`^${MONEY_AMOUNT}$`)

/**
 * The price of an amount of credits as a decimal text with the decimals of the currency, rounded up to the smallest
 * amount that can be charged.
 */
export const priceOfCredits = (
  { amountPerCredit, currency }: Pick<CustomAmount, 'amountPerCredit' | 'currency'>,
  creditsMicros: number,
): string => {
  const decimals = decimalsOf(currency)
  if (decimals === undefined) throw new RangeError(`the currency ${currency} is not in use`)
  const [whole = '', part = ''] = amountPerCredit.split('.')
  const perCreditMicros = BigInt(whole + part.padEnd(6, '0'))
  const scaled = BigInt(creditsMicros) * perCreditMicros * 10n ** BigInt(decimals)
  const step = stepOf(currency)
  return decimalText(dividedUp(scaled, MILLION * MILLION * step) * step, decimals)
}

const MILLION = 1_000_000n

const dividedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** Whether a published list differs from this one, or only one of the two was published by hand. */
export const packsDiffer = (published: PublishedPacks | undefined, list: PriceList, isByHand = false): boolean =>
  (published?.byHand ?? false) !== isByHand || !is(fromJS(listOf(published)), fromJS(listOf(list)))

/** The price list alone. Before the first is published, nothing is for sale. */
export const listOf = ({ packs, customAmount }: PriceList = { packs: [] }): PriceList => ({
  packs,
  ...(customAmount && { customAmount }),
})
