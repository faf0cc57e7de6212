import { invalid, missingParameter, unknownParameter } from './errors.ts'
import type { Parameter, Parameters } from './form.ts'

/** Refuses parameters that the stub does not know: they are misspelt, or the stub must learn them. */
export const allow = (given: Parameters, names: readonly string[], place = '') => {
  for (const name of Object.keys(given))
    if (!names.includes(name)) throw unknownParameter(place === '' ? name : `${place}[${name}]`)
}

export const textOf = (given: Parameters, name: string): string | undefined => {
  const value = given[name]
  if (value !== undefined && typeof value !== 'string') throw invalid(`Invalid string: ${name}`, { param: name })
  return value === '' ? undefined : value
}

export const requiredText = (given: Parameters, name: string): string => {
  const text = textOf(given, name)
  if (text === undefined) throw missingParameter(name)
  return text
}

/** Further parameters within a parameter; none if it is missing. */
export const within = (given: Parameters, name: string, names: readonly string[]): Parameters => {
  const value: Parameter = given[name] ?? {}
  if (typeof value === 'string' || Array.isArray(value)) throw invalid('Invalid object', { param: name })
  allow(value, names, name)
  return value
}

export const flagOf = (given: Parameters, name: string): boolean => {
  const text = textOf(given, name)
  if (text !== undefined && text !== 'true' && text !== 'false')
    throw invalid(`Invalid boolean: ${text}`, { param: name })
  return text === 'true'
}

/** https://docs.stripe.com/api/expanding_objects */
export const expandOf = (given: Parameters): string[] => [given['expand'] ?? []].flat() as string[]

/** At most 50 keys of 40 characters, with values of 500: https://docs.stripe.com/api/metadata */
export const metadataOf = (given: Parameters): Record<string, string> => {
  const metadata = (given['metadata'] ?? {}) as Record<string, string>
  const isValid = Object.entries(metadata).every(([key, value]) => key.length <= 40 && value.length <= 500)
  if (!isValid || Object.keys(metadata).length > 50) throw invalid('Invalid metadata', { param: 'metadata' })
  return metadata
}

/** https://docs.stripe.com/currencies#three-decimal */
const THREE_DECIMALS = ['bhd', 'jod', 'kwd', 'omr', 'tnd']

/** https://docs.stripe.com/currencies#special-cases */
const WHOLE_HUNDREDTHS = ['isk', 'ugx']

/** Half a dollar, roughly: https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts */
const SMALLEST = 50

/** An amount in the smallest unit. `least` is 0 where nothing may be paid. */
export const amountOf = (given: Parameters, name: string, currency: string, least = SMALLEST): number => {
  const text = requiredText(given, name)
  if (!/^\d{1,12}$/.test(text))
    throw invalid(`Invalid integer: ${text}`, { code: 'parameter_invalid_integer', param: name })
  const amount = Number(text)
  if (amount < least && amount !== 0)
    throw invalid('Amount must convert to at least 50 cents.', { code: 'amount_too_small', param: name })
  if (WHOLE_HUNDREDTHS.includes(currency) && amount % 100 !== 0) {
    const rule = `Currency ${currency.toUpperCase()} has become effectively zero-decimal`
    throw invalid(`Invalid amount. ${rule} and charged amounts must be evenly divisible by 100.`, {
      ...{ code: 'invalid_charge_amount_no_decimal_compatible', param: name },
    })
  }
  if (THREE_DECIMALS.includes(currency) && amount % 10 !== 0)
    throw invalid('The least-significant digit of the amount must be 0.', { param: name })
  return amount
}

export const currencyOf = (given: Parameters): string => {
  const currency = requiredText(given, 'currency')
  if (!/^[a-z]{3}$/.test(currency)) throw invalid(`Invalid currency: ${currency}.`, { param: 'currency' })
  return currency
}
