import { millionths } from '../decimal.ts'
import type { PriceStep } from './price-steps.ts'

/** A step of a price in words, without its result. */
export const stepToText = ({ line }: PriceStep, usdPerCreditMicros = 0): string => {
  switch (line.kind) {
    case 'base':
      return 'base price'
    case 'quantity':
      return `× ${line.value} (${line.parameter})`
    case 'multiplier':
      return `× ${millionths(line.factorMicros)} (${line.parameter} is ${line.value})`
    case 'surcharge': {
      const { parameter, equals, usdMicros, amountMicros } = line
      const cause = equals === undefined ? parameter : `${parameter} is ${equals}`
      const dollars = `$${millionths(usdMicros)} at $${millionths(usdPerCreditMicros)} a credit`
      return `+ ${millionths(amountMicros)} (${cause}: ${dollars})`
    }
    case 'rounding':
      return 'rounded up to a millionth of a credit'
  }
}
