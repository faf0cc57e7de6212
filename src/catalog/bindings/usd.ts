import type { Binding, UnitPrice } from '../../../schemas/binding.ts'

type Price = NonNullable<Binding['price']>

const MILLION = 1_000_000

/** A list of prices in US dollars. */
export const usd = (...units: UnitPrice[]): Price => ({ currency: 'USD', units })

/** The price of one unit in US dollars, for inputs with these values. */
export const each = (unit: string, dollars: number, when?: UnitPrice['when']): UnitPrice => ({
  unit,
  micros: Math.round(dollars * MILLION),
  per: 1,
  ...(when && { when }),
})

/** The price of one unit in US dollars, for each value of a parameter. */
export const eachBy = (unit: string, parameter: string, dollars: Record<string, number>): UnitPrice[] =>
  Object.entries(dollars).map(([value, price]) => each(unit, price, { [parameter]: value }))

/** The additional price of a run in US dollars if a switch is on. */
export const extra = (parameter: string, dollars: number): UnitPrice[] => [
  each('runs', dollars, { [parameter]: true }),
  each('runs', 0, { [parameter]: false }),
]

/** The price of a million units in US dollars. */
export const million = (
  unit: string,
  dollars: number,
  facts: Pick<UnitPrice, 'without' | 'mayBeAbsent' | 'tokens'> = {},
): UnitPrice => ({ unit, ...facts, micros: Math.round(dollars * MILLION), per: MILLION })

/** Prices in US dollars for a million of each unit. */
export const usdPerMillion = (prices: Record<string, number>): Price =>
  usd(...Object.entries(prices).map(([unit, dollars]) => million(unit, dollars)))

// Reasons for missing price lists.

/** fal counts the pixels itself, and reports units without a name. */
export const BY_PIXEL = 'it charges by pixels, and does not report how many it counted'

export const BY_PLAN = 'it charges the credits of a plan, whose price depends on the plan'
