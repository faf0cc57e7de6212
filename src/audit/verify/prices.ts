import type { Family, PriceRule } from '../../../schemas/catalog.ts'
import type { AuditedEvent } from '../fault.ts'

/** The price rules of each catalog revision. */
export class PriceList {
  readonly #byRevision = new Map<number, Listed>()

  /** Takes the next event of the catalog. */
  take({ revision, data }: AuditedEvent) {
    const { family } = data as { family?: Family }
    if (!family) return
    const rules = new Map(family.endpoints.map(({ id, pricing }) => [id, pricing]))
    this.#byRevision.set(revision, { family: family.id, rules })
  }

  /** The price rule that a receipt names, or the fault of its name. */
  ruleOf({ catalogRevision, model, endpoint }: Receipt): PriceRule | string {
    const listed = this.#byRevision.get(catalogRevision)
    if (!listed) return `its receipt names catalog revision ${catalogRevision}, which publishes no prices`
    if (listed.family !== model) return `catalog revision ${catalogRevision} publishes ${listed.family}, not ${model}`
    return listed.rules.get(endpoint) ?? `catalog revision ${catalogRevision} has no endpoint ${endpoint}`
  }
}

interface Listed {
  family: string
  /** By endpoint. */
  rules: Map<string, PriceRule>
}

/** A receipt in the log. Amounts are microcredits. Factors and dollars are millionths. */
export interface Receipt {
  catalogRevision: number
  model: string
  endpoint: string
  lines: ReceiptLine[]
  totalMicros: number
  usdPerCreditMicros?: number | undefined
  counted?: boolean
}

interface ReceiptLine {
  kind: string
  parameter?: string
  value?: unknown
  equals?: unknown
  amountMicros?: number
  factorMicros?: number
  usdMicros?: number
  tokens?: string
  count?: number
  perMillionMicros?: number
}

/**
 * Recomputes the price from the lines of a receipt (`docs/ledger-format.md`, "Recomputing a price"). Returns the fault
 * of the receipt, or undefined.
 */
export const receiptFault = ({ lines, totalMicros, usdPerCreditMicros }: Receipt): string | undefined => {
  const bases = lines.filter(({ kind }) => kind === 'base').length
  // If tokens have a price, a run may have no base price.
  const hasBase = bases === 1 && lines[0]?.kind === 'base'
  if (!hasBase && (bases > 0 || !lines.some(isTokens))) return 'its receipt does not have exactly one base price'
  for (const { parameter, usdMicros = 0, amountMicros } of lines.filter(({ kind }) => kind === 'surcharge')) {
    if (!usdPerCreditMicros) return 'its receipt has a surcharge and no exchange rate'
    const amount = dividedUp(BigInt(usdMicros) * MILLION, BigInt(usdPerCreditMicros))
    if (BigInt(amountMicros ?? -1) !== amount) return `its surcharge for ${parameter} is ${amountMicros}, not ${amount}`
  }
  const total = totalOf(lines)
  return total === BigInt(totalMicros) ? undefined : `its price is ${totalMicros}, and its receipt adds up to ${total}`
}

/** The sum of lines. Base × factors and the tokens are rounded up together, before the surcharges. */
export const totalOf = (lines: readonly ReceiptLine[]): bigint => {
  const sumOf = (searched: string, amountOf: (line: ReceiptLine) => bigint) =>
    lines.filter(({ kind }) => kind === searched).reduce((sum, line) => sum + amountOf(line), 0n)
  const factors = lines.filter(({ kind }) => kind === 'quantity' || kind === 'multiplier').map(factorOf)
  const product = factors.reduce((price, factor) => price * factor, sumOf('base', amountIn))
  const scale = MILLION ** BigInt(factors.length)
  const tokens = sumOf('tokens', ({ count = 0, perMillionMicros = 0 }) => BigInt(count) * BigInt(perMillionMicros))
  return dividedUp(product * MILLION + tokens * scale, scale * MILLION) + sumOf('surcharge', amountIn)
}

const amountIn = ({ amountMicros = 0 }: ReceiptLine): bigint => BigInt(amountMicros)

export const isTokens = ({ kind }: ReceiptLine): boolean => kind === 'tokens'

const MILLION = 1_000_000n

/**
 * Compares the lines of a receipt with the lines that a price rule gives for an input. Returns the fault of the
 * receipt, or undefined. The log shows no input that is encrypted. Then the values that the receipt names count.
 */
export const ruleFault = (
  { lines }: Receipt,
  { baseMicros, quantities, multipliers, tokens, surcharges }: PriceRule,
  request: Record<string, unknown>,
): string | undefined => {
  const input = Object.keys(request).length > 0 ? request : valuesIn(lines)
  const expected = [
    ...(baseMicros > 0 ? [`base ${baseMicros}`] : []),
    ...quantities
      .filter(parameter => typeof input[parameter] === 'number')
      .map(parameter => `quantity ${parameter} ${input[parameter]}`),
    ...Object.entries(multipliers)
      .filter(([parameter]) => input[parameter] !== undefined)
      .map(([parameter, factors]) => {
        const value = String(input[parameter])
        return `multiplier ${parameter} ${value} ${Object.hasOwn(factors, value) ? factors[value] : 'none'}`
      }),
    ...(tokens ? mostTokens(tokens, input) : []),
    ...surcharges
      .filter(({ when }) => input[when.parameter] === when.equals)
      .map(({ when, usdMicros }) => `surcharge ${when.parameter} ${JSON.stringify(when.equals)} ${usdMicros}`),
  ]
  const found = lines.map(line => describe(line, input))
  const strange = found.find(line => !expected.includes(line))
  if (strange !== undefined) return `its receipt has the line "${strange}", which the price list lacks`
  const missing = expected.find(line => !found.includes(line))
  if (missing !== undefined) return `its receipt lacks the line "${missing}" of the price list`
  return found.length === expected.length ? undefined : 'its receipt has a line twice'
}

/** A multiplier has a value only as text, so the value of another line comes first. */
const valuesIn = (lines: readonly ReceiptLine[]): Record<string, unknown> => {
  const valuesOf = (some: readonly ReceiptLine[]) =>
    some.flatMap(({ parameter, value, equals }) => (parameter ? [[parameter, value ?? equals]] : []))
  const isMultiplier = ({ kind }: ReceiptLine) => kind === 'multiplier'
  return {
    max_output_tokens: lines.find(line => isTokens(line) && line.tokens !== 'input' && line.count)?.count,
    ...Object.fromEntries(valuesOf(lines.filter(isMultiplier))),
    ...Object.fromEntries(valuesOf(lines.filter(line => !isMultiplier(line)))),
  }
}

/**
 * The lines for the most tokens that a run can use. The service chooses the count of the input, which must only be high
 * enough: what a run did not use is released.
 */
const mostTokens = (rates: Rates, { max_output_tokens: longest }: Record<string, unknown>): string[] => {
  const counts = { input: 'at most', [rates.thinking > rates.output ? 'thinking' : 'output']: longest }
  return Object.entries(rates).map(([kind, rate]) => `tokens ${kind} ${counts[kind] ?? 0} ${rate}`)
}

type Rates = NonNullable<PriceRule['tokens']>

const describe = (line: ReceiptLine, input: Record<string, unknown>): string => {
  const { kind, parameter = '', value, amountMicros, factorMicros, usdMicros } = line
  if (kind === 'tokens')
    return `tokens ${line.tokens} ${line.tokens === 'input' ? 'at most' : line.count} ${line.perMillionMicros}`
  if (kind === 'base') return `base ${amountMicros}`
  if (kind === 'quantity') return `quantity ${parameter} ${value}`
  if (kind === 'multiplier') return `multiplier ${parameter} ${value} ${factorMicros}`
  // In format 1, a surcharge does not name its value, which is the value of the input.
  const { equals = input[parameter] } = line
  return `surcharge ${parameter} ${JSON.stringify(equals)} ${usdMicros}`
}

/** A factor in millionths. Quantities have at most six decimals. */
const factorOf = ({ kind, value, factorMicros }: ReceiptLine): bigint =>
  BigInt(kind === 'quantity' ? Math.round(Number(value) * 1_000_000) : (factorMicros ?? 0))

const dividedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor
