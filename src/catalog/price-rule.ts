import type { PriceRule } from '../../schemas/catalog.ts'
import { toMicros } from '../domain/money.ts'

interface Terms {
  /** Numeric parameters that multiply the base price. */
  quantities?: string[]
  /** Factors of the base price by parameter and value. */
  multipliers?: Record<string, Record<string, number>>
  surcharges?: PriceRule['surcharges']
}

/** Builds a price rule from decimal numbers of credits and factors. */
export const priceRule = (baseCredits: number, { quantities, multipliers, surcharges }: Terms = {}): PriceRule => ({
  baseMicros: toMicros(baseCredits),
  quantities: quantities ?? [],
  multipliers: mapValues(multipliers ?? {}, table => mapValues(table, toMicros)),
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

const mapValues = <From, To>(table: Record<string, From>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]))
