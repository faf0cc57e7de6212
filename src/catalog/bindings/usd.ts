import type { Binding, UnitPrice } from '../../../schemas/binding.ts'

const MILLION = 1_000_000

/** Prices in US dollars for a million of each unit. */
export const usdPerMillion = (prices: Record<string, number>): NonNullable<Binding['price']> => ({
  currency: 'USD',
  units: Object.entries(prices).map(
    ([unit, usd]): UnitPrice => ({
      unit,
      micros: Math.round(usd * MILLION),
      per: MILLION,
    }),
  ),
})
