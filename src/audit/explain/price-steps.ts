import type { Receipt, ReceiptLine } from '../../../schemas/catalog.ts'
import { decimal, millionths, shown } from '../decimal.ts'

/** A step of a price, with the credits after it as an exact decimal number. */
export type PriceStep = { line: ReceiptLine | { kind: 'rounding' }; result: string }

/** Credits, factors, quantities and dollars are counted in millionths. */
const PLACES = 6

/**
 * The arithmetic of a receipt, step by step (`docs/ledger-format.md`, "Recomputing a price"). Rounding is a step if it
 * changes the amount. It follows all factors and tokens, and precedes the surcharges.
 */
export const priceSteps = ({ lines }: Receipt): PriceStep[] => {
  const steps: PriceStep[] = []
  let value = 0n
  let places = PLACES
  const add = (line: PriceStep['line']) => steps.push({ line, result: decimal(value, places) })
  for (const line of lines.filter(({ kind }) => kind !== 'surcharge')) {
    if (line.kind === 'base') value = BigInt(line.amountMicros)
    else if (line.kind === 'tokens') {
      // Microcredits for a million tokens have six places more.
      if (places < 2 * PLACES) {
        value *= 10n ** BigInt(2 * PLACES - places)
        places = 2 * PLACES
      }
      value += BigInt(line.count) * BigInt(line.perMillionMicros) * 10n ** BigInt(places - 2 * PLACES)
    } else {
      value *= millionthsOf(line)
      places += PLACES
    }
    add(line)
  }
  const unit = 10n ** BigInt(places - PLACES)
  const isWhole = value % unit === 0n
  value = (value + unit - 1n) / unit
  places = PLACES
  if (!isWhole) add({ kind: 'rounding' })
  for (const line of lines)
    if (line.kind === 'surcharge') {
      value += BigInt(line.amountMicros)
      add(line)
    }
  return steps
}

const millionthsOf = (line: ReceiptLine): bigint => {
  if (line.kind === 'quantity') return BigInt(Math.round(line.value * 1_000_000))
  return line.kind === 'multiplier' ? BigInt(line.factorMicros) : 1n
}

/** Describes a step of a price, without its result. */
export const stepToText = ({ line }: PriceStep, usdPerCreditMicros = 0): string => {
  switch (line.kind) {
    case 'base':
      return 'base price'
    case 'quantity':
      return `× ${line.value} (${line.parameter})`
    case 'multiplier':
      return `× ${millionths(line.factorMicros)} (${line.parameter} is ${line.value})`
    case 'tokens': {
      const rate = `${shown(String(line.count))} × ${millionths(line.perMillionMicros)} / 1,000,000`
      return `+ ${rate} (${NAMES[line.tokens]} tokens)`
    }
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

const NAMES = { input: 'input', cached_input: 'cached input', output: 'output', thinking: 'thinking' } as const
