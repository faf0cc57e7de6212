const MILLION = 1_000_000

/** Whole millionths as the decimal number that the API shows: microcredits as credits, and so on. */
export const fromMicros = (micros: number): number => micros / MILLION

/**
 * A decimal number in whole millionths: credits to microcredits, US dollars to micro-dollars, a factor to its
 * millionths. Throws a RangeError for more than six decimals, or for more than a double represents exactly.
 */
export const toMicros = (decimal: number): number => {
  if (!isWholeMicros(decimal)) throw new RangeError(`${decimal} is not a whole number of millionths`)
  return Math.round(decimal * MILLION)
}

/** Whether a number has at most six decimals, and a double represents its millionths exactly. */
export const isWholeMicros = (decimal: number): boolean => {
  const micros = Math.round(decimal * MILLION)
  return Number.isSafeInteger(micros) && fromMicros(micros) === decimal
}
