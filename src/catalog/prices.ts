import type { PriceRule } from '../../schemas/catalog.ts'
import { toMicros } from '../domain/money.ts'

interface Terms {
  /** Numeric parameters that the base is multiplied by. */
  quantities?: string[]
  /** For a parameter's values, the factors that the base is multiplied by. */
  multipliers?: Record<string, Record<string, number>>
  surcharges?: PriceRule['surcharges']
}

/** A price in credits as the evaluator counts it. The terms are plain decimal numbers. */
export const price = (baseCredits: number, { quantities, multipliers, surcharges }: Terms = {}): PriceRule => ({
  baseMicros: toMicros(baseCredits),
  quantities: quantities ?? [],
  multipliers: mapValues(multipliers ?? {}, table => mapValues(table, toMicros)),
  surcharges: surcharges ?? [],
})

/** US dollars that are added once when a parameter has a value. */
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
