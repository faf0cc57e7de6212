import type { ParametersSchema, PriceRule, Receipt, ReceiptLine, TokenUsage } from '../../../schemas/catalog.ts'
import { MAX_INPUT_BYTES } from '../../../schemas/primitives.ts'
import { toMicros } from '../money.ts'
import { countsOf, LONGEST_ANSWER, mostTokens } from './tokens.ts'

type Input = Record<string, unknown>

export type Price = Pick<Receipt, 'lines' | 'totalMicros' | 'usdPerCreditMicros'>

/** Factors, quantities and rates are all counted in millionths. */
const MILLION = 1_000_000n

/**
 * The price of an input that is valid for the rule's endpoint, defaults applied: base × quantities × multipliers +
 * tokens, rounded up to the next microcredit, and the surcharges. Absent parameters are skipped. `usage` is what the
 * run uses: by default the most that it can.
 */
export const priceOf = (
  rule: PriceRule,
  input: Input,
  usdPerCreditMicros: number,
  usage: TokenUsage | undefined = rule.tokens && mostTokens(rule, input),
): Price => {
  const lines: ReceiptLine[] = rule.baseMicros > 0 ? [{ kind: 'base', amountMicros: rule.baseMicros }] : []
  for (const parameter of rule.quantities) {
    const value = input[parameter]
    if (typeof value !== 'number') continue
    lines.push({ kind: 'quantity', parameter, value })
  }
  for (const [parameter, table] of Object.entries(rule.multipliers)) {
    // Objects inherit names such as `constructor`, which are no parameters and have no factor.
    const given = Object.hasOwn(input, parameter) ? input[parameter] : undefined
    if (given === undefined) continue
    const value = String(given)
    const factorMicros = Object.hasOwn(table, value) ? table[value] : undefined
    if (factorMicros === undefined) throw new Error(`the price rule has no factor for ${parameter} ${value}`)
    lines.push({ kind: 'multiplier', parameter, value, factorMicros })
  }
  for (const [tokens, count] of rule.tokens && usage ? countsOf(usage) : [])
    lines.push({ kind: 'tokens', tokens, count, perMillionMicros: rule.tokens?.[tokens] ?? 0 })
  for (const { when, usdMicros } of rule.surcharges) {
    if (input[when.parameter] !== when.equals) continue
    const amountMicros = surchargeMicros(usdMicros, usdPerCreditMicros)
    lines.push({ kind: 'surcharge', ...when, usdMicros, amountMicros })
  }
  return { lines, totalMicros: totalOf(lines), usdPerCreditMicros }
}

/**
 * The receipt of a run once its tokens are known. It is never higher than `reserved`, the receipt of the debit,
 * whatever the vendor reports.
 */
export const settle = (reserved: Receipt, { counted, ...usage }: TokenUsage): Receipt => {
  const lines = reserved.lines.map(line => (line.kind === 'tokens' ? { ...line, count: usage[line.tokens] } : line))
  const totalMicros = totalOf(lines)
  if (totalMicros >= reserved.totalMicros) return reserved
  return { ...reserved, lines, totalMicros, ...(counted && { counted }) }
}

export const hasTokens = ({ lines }: Pick<Receipt, 'lines'>): boolean => lines.some(({ kind }) => kind === 'tokens')

/** The part of an input that its receipt tells, from which the price can be computed again. */
export const pricedPart = (receipt: Pick<Receipt, 'lines'>, input: Input): Input => {
  const named = receipt.lines.flatMap(line => ('parameter' in line ? [line.parameter] : []))
  const names = new Set(hasTokens(receipt) ? [...named, LONGEST_ANSWER] : named)
  return Object.fromEntries(Object.entries(input).filter(([name]) => names.has(name)))
}

/** The sum of a receipt: the base times its factors, and the tokens, are rounded up together. */
const totalOf = (lines: readonly ReceiptLine[]): number => {
  let product = 0n
  let scale = 1n
  let tokens = 0n
  let surcharges = 0
  const multiply = (factorMicros: number) => {
    product *= BigInt(factorMicros)
    scale *= MILLION
  }
  for (const line of lines)
    if (line.kind === 'base') product = BigInt(line.amountMicros)
    else if (line.kind === 'quantity') multiply(toMicros(line.value))
    else if (line.kind === 'multiplier') multiply(line.factorMicros)
    else if (line.kind === 'tokens') tokens += BigInt(line.count) * BigInt(line.perMillionMicros)
    else surcharges += line.amountMicros
  return expectExact(divideUp(product * MILLION + tokens * scale, scale * MILLION) + surcharges)
}

/** A surcharge in US dollars as microcredits. */
export const surchargeMicros = (usdMicros: number, usdPerCreditMicros: number): number =>
  divideUp(BigInt(usdMicros) * MILLION, BigInt(usdPerCreditMicros))

/**
 * The lowest and the highest price that a valid input can have, found by pricing every combination of extremes. A run
 * with a price for tokens uses at least one of each kind, and at most the largest input and the longest answer.
 */
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
  const totals = inputs.flatMap(input =>
    usagesOf(rule, input).map(usage => priceOf(rule, input, usdPerCreditMicros, usage).totalMicros),
  )
  return { minMicros: Math.min(...totals), maxMicros: Math.max(...totals) }
}

const LEAST: TokenUsage = { input: 1, cached_input: 0, output: 1, thinking: 0 }

const usagesOf = (rule: PriceRule, input: Input): (TokenUsage | undefined)[] => {
  if (!rule.tokens) return [undefined]
  return [LEAST, { ...mostTokens(rule, input), input: rule.tokenLimits?.input ?? MAX_INPUT_BYTES }]
}

/** The parameters that affect the price. */
export const pricedParameters = (rule: PriceRule): string[] => [
  ...new Set([
    ...rule.quantities,
    ...Object.keys(rule.multipliers),
    ...(rule.tokens ? [LONGEST_ANSWER] : []),
    ...rule.surcharges.map(s => s.when.parameter),
  ]),
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
