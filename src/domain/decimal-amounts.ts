import { decimalsOf } from './currencies.ts'

/** The exact sum of decimal amounts in text, with at least so many decimals. */
export const sumOfAmounts = (amounts: readonly string[], least: number): string => {
  const decimals = amounts.reduce((most, amount) => Math.max(most, decimalsIn(amount)), least)
  const sum = amounts.reduce((total, amount) => total + minorOf({ amount: withDecimals(amount, decimals) }), 0n)
  return decimalText(sum, decimals)
}

/** An amount in the smallest units, such as 1250 for `12.50`. All amounts of a currency have as many decimals. */
export const minorOf = ({ amount }: { amount: string }): bigint => BigInt(amount.replace('.', ''))

/** A number of smallest units as a decimal amount of a currency. */
export const amountOf = (minor: bigint, currency: string): string => decimalText(minor, decimalsOf(currency) ?? 2)

/** An amount of the smallest unit as a decimal number, such as 1250 with two decimals as `12.50`. */
export const decimalText = (minor: bigint, decimals: number): string => {
  const digits = String(minor).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
}

/** The number of decimals that an amount is written with. */
export const decimalsIn = (amount: string): number => amount.split('.')[1]?.length ?? 0

/** The same amount written with more decimals. */
export const withDecimals = (amount: string, decimals: number): string => {
  const [whole = '', fraction = ''] = amount.split('.')
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`
}
