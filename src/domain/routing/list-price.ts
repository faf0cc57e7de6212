import type { PriceList, UnitPrice } from '../../../schemas/binding.ts'
import { MAX_TOKENS, type TokenKind, type TokenUsage } from '../../../schemas/catalog.ts'
import { countsOf } from '../catalog/tokens.ts'
import { isWholeMicros, toMicros } from '../money.ts'

type Input = Readonly<Record<string, unknown>>

/** Quantities are counted in millionths. */
const MILLION = 1_000_000

/**
 * The price of work by a list, in millionths of its currency, rounded up. `quantities` are the known quantities of the
 * work, by unit. Undefined if they do not determine the price: Tollgate never guesses a price.
 */
export const listPrice = (
  { units }: Pick<PriceList, 'units'>,
  quantities: Readonly<Record<string, number>>,
  input: Input,
): number | undefined => {
  const prices = units.filter(price => holds(price, input))
  if (units.some(({ unit }) => !prices.some(price => price.unit === unit))) return undefined
  let dividend = 0n
  let divisor = 1n
  for (const price of prices) {
    const { micros, per } = price
    const millionths = countOf(price, quantities)
    if (millionths === undefined) return undefined
    const scale = BigInt(per) * BigInt(MILLION)
    dividend = dividend * scale + millionths * BigInt(micros) * divisor
    divisor *= scale
  }
  const total = Number((dividend + divisor - 1n) / divisor)
  return Number.isSafeInteger(total) ? total : undefined
}

/**
 * The tokens that a provider reports, by the list's own names for them. Undefined if the report lacks a count, or if
 * one is absurd.
 */
export const reportedTokens = (
  { units }: Pick<PriceList, 'units'>,
  quantities: Readonly<Record<string, number>>,
): TokenUsage | undefined => {
  const usage: TokenUsage = { input: 0, cached_input: 0, output: 0, thinking: 0 }
  const prices = units.filter(({ tokens }) => tokens !== undefined)
  for (const price of prices) {
    const millionths = countOf(price, quantities)
    if (millionths === undefined) return undefined
    usage[price.tokens as TokenKind] += Math.ceil(Number(millionths) / MILLION)
  }
  const isPlausible = usage.output + usage.thinking > 0 && countsOf(usage).every(([, count]) => count <= MAX_TOKENS)
  return isPlausible ? usage : undefined
}

const holds = ({ when = {} }: UnitPrice, input: Input): boolean =>
  Object.entries(when).every(([name, value]) => own(input, name) === value)

/** The quantity that a price is for, in millionths. */
const countOf = ({ unit, without = [], mayBeAbsent }: UnitPrice, quantities: Input): bigint | undefined => {
  const whole = own(quantities, unit)
  if (whole === undefined && mayBeAbsent) return 0n
  let count = millionthsOf(whole)
  for (const part of without) {
    const counted = millionthsOf(own(quantities, part) ?? 0)
    count = count === undefined || counted === undefined || counted > count ? undefined : count - counted
  }
  return count
}

/** Undefined for a value that is not a quantity, or that cannot be counted exactly. */
const millionthsOf = (quantity: unknown): bigint | undefined => {
  if (typeof quantity !== 'number' || !(quantity >= 0)) return undefined
  const millionths = isWholeMicros(quantity) ? toMicros(quantity) : Math.ceil(quantity * MILLION)
  return Number.isSafeInteger(millionths) ? BigInt(millionths) : undefined
}

/** Objects inherit names such as `constructor`, which are no parameters. */
const own = (values: Input, name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined)

/** The parameters and results of a run, by the unit of a price list. */
export const quantitiesOf = (input: Record<string, unknown>, outputs: number): Record<string, number> => {
  const { text } = input
  const characters = typeof text === 'string' ? { characters: [...text].length } : {}
  return { ...input, outputs, runs: 1, ...characters } as Record<string, number>
}
