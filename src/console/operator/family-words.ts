import type { Family, PriceRule } from '../../../schemas/catalog.ts'
import { surchargeMicros } from '../../domain/catalog/pricing.ts'
import { fromMicros } from '../../domain/money.ts'
import type { JsonDifference } from '../../services/catalog/json-diff.ts'
import type { EndpointPrice } from '../../services/operator/prices.ts'
import { credits, decimal, dollars } from '../parts/text.ts'

/** A change of a family in words. Values are text; null where there is none. */
export interface Change {
  what: string
  from: string | null
  to: string | null
  /** Whether a price becomes more than twice as high, or less than half. */
  isLarge: boolean
  /** Whether the words are only the place in the JSON. */
  isPlace: boolean
}

/** The prices of usual runs that differ, and then all differences. */
export const changesOf = (
  { endpoints }: Family,
  differences: readonly JsonDifference[],
  before: readonly EndpointPrice[],
  after: readonly EndpointPrice[],
): Change[] => [
  ...after.flatMap(({ endpoint: { id }, usualMicros }): Change[] => {
    const old = before.find(({ endpoint }) => endpoint.id === id)
    if (!old || old.usualMicros === usualMicros) return []
    return [ofAmounts(`A usual run of ${id}`, old.usualMicros, usualMicros, inCredits)]
  }),
  ...differences.map(({ place, from, to }): Change => {
    const [, index, rest = ''] = /^endpoints\.(\d+)\.pricing\.(.+)$/.exec(place) ?? []
    const endpoint = endpoints[Number(index)]?.id
    for (const { at, what, text } of PRICES) {
      const parts = at.exec(rest)
      if (endpoint !== undefined && parts)
        return ofAmounts(what(endpoint, parts[1] ?? '', parts[2] ?? ''), numberIn(from), numberIn(to), text)
    }
    return { what: place, from, to, isLarge: false, isPlace: true }
  }),
]

const numberIn = (json: string | null): number | null => (json === null ? null : Number(json))

const ofAmounts = (what: string, from: number | null, to: number | null, text: (micros: number) => string): Change => ({
  ...{ what, isPlace: false },
  ...{ from: from === null ? null : text(from), to: to === null ? null : text(to) },
  isLarge: from !== null && to !== null && (to > 2 * from || from > 2 * to),
})

const inCredits = (micros: number) => `${credits(micros)} credits`
const asFactor = (micros: number) => `× ${decimal(fromMicros(micros))}`

/** The parts of a price rule that are numbers. */
const PRICES: readonly {
  at: RegExp
  what(endpoint: string, one: string, other: string): string
  text(micros: number): string
}[] = [
  { at: /^baseMicros$/, what: endpoint => `Base price of ${endpoint}`, text: inCredits },
  {
    at: /^multipliers\.([^.]+)\.(.+)$/,
    what: (endpoint, name, value) => `Factor of ${endpoint} for ${name} ${value}`,
    text: asFactor,
  },
  {
    at: /^tokens\.(.+)$/,
    what: (endpoint, kind) => `A million ${kind.replace('_', ' ')} tokens of ${endpoint}`,
    text: inCredits,
  },
  { at: /^surcharges\.\d+\.usdMicros$/, what: endpoint => `Surcharge of ${endpoint}`, text: dollars },
]

/** What the base price is multiplied by, and what is added to it, a line each. */
export const factorsOf = (
  { quantities, multipliers, tokens, surcharges }: PriceRule,
  usdPerCreditMicros: number,
): string[] => [
  ...quantities.map(name => `× ${name}`),
  ...Object.entries(multipliers).map(
    ([name, table]) =>
      `${name}: ${Object.entries(table)
        .map(([value, micros]) => `${value} ${asFactor(micros)}`)
        .join(', ')}`,
  ),
  ...(tokens
    ? [
        `a million tokens: ${Object.entries(tokens)
          .map(([kind, micros]) => `${kind.replace('_', ' ')} ${credits(micros)}`)
          .join(', ')}`,
      ]
    : []),
  ...surcharges.map(({ when, usdMicros }) => {
    const amount = inCredits(surchargeMicros(usdMicros, usdPerCreditMicros))
    return `+ ${amount} (${dollars(usdMicros)}) if ${when.parameter} is ${when.equals}`
  }),
]

/** In percent of the price; undefined if the cost is not known. */
export const marginOf = ({ usualMicros, cost }: EndpointPrice): number | undefined =>
  cost && Math.round((1 - cost.micros / usualMicros) * 100)
