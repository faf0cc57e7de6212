import { toMicros } from '../domain/money.ts'

/** Credits, as a price rule counts them. */
export const credits = toMicros
/** US dollars, as a surcharge counts them. */
export const usd = toMicros

/** A table of factors, as a price rule counts them. */
export const factors = (table: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(table).map(([value, factor]) => [value, toMicros(factor)]))
