import { decimalsOf } from '../../domain/currencies.ts'
import type { Money } from '../../ports/payments.ts'

/** https://docs.stripe.com/currencies#zero-decimal, where it differs from ISO 4217. */
const WHOLE = ['MGA']

/** Without decimals by now, but still counted in hundredths: https://docs.stripe.com/currencies#special-cases */
const HUNDREDTHS = ['ISK', 'UGX']

/** Amounts with three decimals must end with 0: https://docs.stripe.com/currencies#three-decimal */
const THOUSANDTHS_STEP = 10

/** The decimals of the integers in which Stripe counts a currency. */
const scaleOf = (currency: string): number | undefined => {
  if (WHOLE.includes(currency)) return 0
  return HUNDREDTHS.includes(currency) ? 2 : decimalsOf(currency)
}

/** Whether amounts of a currency can be told. Stripe still knows currencies that are no longer in use. */
export const isCounted = (stripeCurrency: string): boolean => scaleOf(stripeCurrency.toUpperCase()) !== undefined

/** The smallest amount that can be paid, in Stripe's units. HUF and TWD are whole only when they are paid out. */
const stepOf = (currency: string): number => {
  if (HUNDREDTHS.includes(currency)) return 100
  return decimalsOf(currency) === 3 ? THOUSANDTHS_STEP : 1
}

/** Why Stripe cannot take exactly this amount; undefined if it can. */
export const unfit = (money: Money): string | undefined => {
  const units = unitsOf(money)
  return typeof units === 'string' ? units : undefined
}

/** An amount in Stripe's units. Throws a RangeError for an amount that Stripe cannot take exactly. */
export const toMinorUnits = (money: Money): number => {
  const units = unitsOf(money)
  if (typeof units === 'string') throw new RangeError(units)
  return units
}

const unitsOf = ({ amount, currency }: Money): number | string => {
  const scale = scaleOf(currency)
  if (scale === undefined) return `${JSON.stringify(currency)} is not a currency in use`
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(amount) ?? []
  if (whole === undefined) return `${JSON.stringify(amount)} is not an amount of money`
  if (/[1-9]/.test(fraction.slice(scale))) return `${amount} ${currency} has more decimals than Stripe takes`
  const units = Number(whole + fraction.slice(0, scale).padEnd(scale, '0'))
  if (!Number.isSafeInteger(units)) return `${amount} ${currency} is more than Stripe takes`
  const step = stepOf(currency)
  if (units % step === 0) return units
  const { amount: least } = fromMinorUnits(step, currency)
  return `${amount} ${currency} is not a multiple of ${least} ${currency}, which Stripe requires`
}

/** Stripe's units as money, with more decimals than the currency has only where a fee needs them. */
export const fromMinorUnits = (units: number, stripeCurrency: string): Money => {
  const currency = stripeCurrency.toUpperCase()
  const scale = scaleOf(currency)
  if (scale === undefined) throw new RangeError(`Stripe counts in an unknown currency, ${currency}`)
  const digits = String(Math.abs(units)).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale)
  const decimals = decimalsOf(currency) ?? scale
  const needed = Math.max(decimals, fraction.replace(/0+$/, '').length)
  const shown = fraction.padEnd(needed, '0').slice(0, needed)
  return { amount: `${units < 0 ? '-' : ''}${whole}${shown && `.${shown}`}`, currency }
}
