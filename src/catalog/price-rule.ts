import type { PriceRule } from '../../schemas/catalog.ts'
import { toMicros } from '../domain/money.ts'

interface Terms {
  /** Numeric parameters that multiply the base price. */
  quantities?: string[]
  /** Factors of the base price by parameter and value. */
  multipliers?: Record<string, Record<string, number>>
  /** Credits for a million tokens of each kind. Cached input and thoughts cost what input and answer cost. */
  tokens?: { input: number; cached_input?: number; output: number; thinking?: number }
  tokenLimits?: PriceRule['tokenLimits']
  surcharges?: PriceRule['surcharges']
}

/** Builds a price rule from decimal numbers of credits and factors. */
export const priceRule = (
  baseCredits: number,
  { quantities, multipliers, tokens, tokenLimits, surcharges }: Terms = {},
): PriceRule => ({
  baseMicros: toMicros(baseCredits),
  quantities: quantities ?? [],
  multipliers: mapValues(multipliers ?? {}, table => mapValues(table, toMicros)),
  ...(tokens && { tokens: mapValues(allOf(tokens), toMicros) }),
  ...(tokenLimits && { tokenLimits }),
  surcharges: surcharges ?? [],
})

/** An amount in US dollars that is added once if a parameter has a value. */
export const surcharge = (
  parameter: string,
  equals: boolean | string,
  usd: number,
): PriceRule['surcharges'][number] => ({
  when: { parameter, equals },
  usdMicros: toMicros(usd),
})

/** A kind without a price of its own is input or output. */
const allOf = ({ input, output, cached_input = input, thinking = output }: NonNullable<Terms['tokens']>) => ({
  ...{ input, cached_input, output, thinking },
})

const mapValues = <Name extends string, From, To>(table: Record<Name, From>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries<From>(table).map(([key, value]) => [key, change(value)])) as Record<Name, To>
