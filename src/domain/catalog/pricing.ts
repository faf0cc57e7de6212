import type { ParametersSchema, PriceRule, Receipt, ReceiptLine } from '../../../schemas/catalog.ts'
import { toMicros } from '../money.ts'

type Input = Record<string, unknown>

export type Price = Pick<Receipt, 'lines' | 'totalMicros' | 'usdPerCreditMicros'>

/** Factors, quantities and rates are all counted in millionths. */
const MILLION = 1_000_000n

/**
 * The price of an input that is valid for the rule's endpoint, defaults applied: base × quantities × multipliers +
 * surcharges, each sum rounded up to the next microcredit. Absent parameters are skipped.
 */
export const priceOf = (rule: PriceRule, input: Input, usdPerCreditMicros: number): Price => {
  const lines: ReceiptLine[] = [{ kind: 'base', amountMicros: rule.baseMicros }]
  let factors = 1n
  let scale = 1n
  const multiply = (factorMicros: number) => {
    factors *= BigInt(factorMicros)
    scale *= MILLION
  }

  for (const parameter of rule.quantities) {
    const value = input[parameter]
    if (typeof value !== 'number') continue
    multiply(toMicros(value))
    lines.push({ kind: 'quantity', parameter, value })
  }
  for (const [parameter, table] of Object.entries(rule.multipliers)) {
    // Objects inherit names such as `constructor`, which are no parameters and have no factor.
    const given = Object.hasOwn(input, parameter) ? input[parameter] : undefined
    if (given === undefined) continue
    const value = String(given)
    const factorMicros = Object.hasOwn(table, value) ? table[value] : undefined
    if (factorMicros === undefined) throw new Error(`the price rule has no factor for ${parameter} ${value}`)
    multiply(factorMicros)
    lines.push({ kind: 'multiplier', parameter, value, factorMicros })
  }
  let totalMicros = divideUp(BigInt(rule.baseMicros) * factors, scale)

  for (const { when, usdMicros } of rule.surcharges) {
    if (input[when.parameter] !== when.equals) continue
    const amountMicros = surchargeMicros(usdMicros, usdPerCreditMicros)
    lines.push({ kind: 'surcharge', ...when, usdMicros, amountMicros })
    totalMicros += amountMicros
  }
  return { lines, totalMicros: expectExact(totalMicros), usdPerCreditMicros }
}

/** A surcharge in US dollars as microcredits. */
export const surchargeMicros = (usdMicros: number, usdPerCreditMicros: number): number =>
  divideUp(BigInt(usdMicros) * MILLION, BigInt(usdPerCreditMicros))

/** The lowest and the highest price that a valid input can have, found by pricing every combination of extremes. */
export const priceRange = (
  rule: PriceRule,
  schema: ParametersSchema,
  usdPerCreditMicros: number,
): { minMicros: number; maxMicros: number } => {
  const inputs = pricedParameters(rule).reduce<Input[]>(
    (partial, parameter) =>
      partial.flatMap(input => boundsOf(schema, parameter).map(value => ({ ...input, [parameter]: value }))),
    [{}],
  )
  const totals = inputs.map(input => priceOf(rule, input, usdPerCreditMicros).totalMicros)
  return { minMicros: Math.min(...totals), maxMicros: Math.max(...totals) }
}

/** The parameters that affect the price. */
export const pricedParameters = (rule: PriceRule): string[] => [
  ...new Set([...rule.quantities, ...Object.keys(rule.multipliers), ...rule.surcharges.map(s => s.when.parameter)]),
]

/**
 * The values of a parameter at which the price is lowest or highest; `undefined` stands for an absent parameter. There
 * are none if the schema does not bound it.
 */
export const extremes = (schema: ParametersSchema, parameter: string): unknown[] => {
  const declared = schema.properties[parameter]
  if (!declared) throw new Error(`the price rule names ${parameter}, which the schema does not have`)
  const values = declaredExtremes(declared)
  if (values.length === 0) return []
  const mayBeAbsent = declared['default'] === undefined && !schema.required?.includes(parameter)
  return mayBeAbsent ? [undefined, ...values] : values
}

const boundsOf = (schema: ParametersSchema, parameter: string): unknown[] => {
  const values = extremes(schema, parameter)
  if (values.length === 0) throw new Error(`the schema does not bound ${parameter}, which is part of the price`)
  return values
}

const declaredExtremes = (declared: Record<string, unknown>): unknown[] => {
  if (Array.isArray(declared['enum'])) return declared['enum']
  if (declared['type'] === 'boolean') return [false, true]
  return [declared['minimum'], declared['maximum']].filter(bound => typeof bound === 'number')
}

const divideUp = (dividend: bigint, divisor: bigint): number => expectExact(Number((dividend + divisor - 1n) / divisor))

const expectExact = (micros: number): number => {
  if (!Number.isSafeInteger(micros)) throw new RangeError('a price is too large to represent exactly')
  return micros
}
