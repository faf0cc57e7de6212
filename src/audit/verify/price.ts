import type { PriceRule } from '../../../schemas/catalog.ts'

/** A receipt as the log holds it. Amounts are microcredits, factors and dollars are millionths. */
export interface Receipt {
  catalogRevision: number
  model: string
  endpoint: string
  lines: ReceiptLine[]
  totalMicros: number
  usdPerCreditMicros?: number | undefined
}

interface ReceiptLine {
  kind: string
  parameter?: string
  value?: unknown
  equals?: unknown
  amountMicros?: number
  factorMicros?: number
  usdMicros?: number
}

const MILLION = 1_000_000n

/**
 * Recomputes the price from the lines of a receipt (`docs/ledger-format.md`, "Recomputing a price"). Returns what is
 * wrong with the receipt, or undefined.
 */
export const receiptFault = ({ lines, totalMicros, usdPerCreditMicros }: Receipt): string | undefined => {
  const [base, ...others] = lines
  if (base?.kind !== 'base' || others.some(({ kind }) => kind === 'base')) return 'its receipt has not one base price'
  const factors = others.filter(({ kind }) => kind !== 'surcharge').map(factorOf)
  const product = factors.reduce((price, factor) => price * factor, BigInt(base.amountMicros ?? 0))
  const surcharges = others.filter(({ kind }) => kind === 'surcharge')
  for (const { parameter, usdMicros = 0, amountMicros } of surcharges) {
    if (!usdPerCreditMicros) return 'its receipt has a surcharge and no exchange rate'
    const amount = dividedUp(BigInt(usdMicros) * MILLION, BigInt(usdPerCreditMicros))
    if (BigInt(amountMicros ?? -1) !== amount) return `its surcharge for ${parameter} is ${amountMicros}, not ${amount}`
  }
  const added = surcharges.reduce((sum, { amountMicros = 0 }) => sum + BigInt(amountMicros), 0n)
  const total = dividedUp(product, MILLION ** BigInt(factors.length)) + added
  return total === BigInt(totalMicros) ? undefined : `its price is ${totalMicros}, and its receipt adds up to ${total}`
}

/**
 * Compares the lines of a receipt with those that a price rule gives for an input. Returns what is wrong with the
 * receipt, or undefined.
 */
export const ruleFault = (
  { lines }: Receipt,
  { baseMicros, quantities, multipliers, surcharges }: PriceRule,
  input: Record<string, unknown>,
): string | undefined => {
  const expected = [
    `base ${baseMicros}`,
    ...quantities
      .filter(parameter => typeof input[parameter] === 'number')
      .map(parameter => `quantity ${parameter} ${input[parameter]}`),
    ...Object.entries(multipliers)
      .filter(([parameter]) => input[parameter] !== undefined)
      .map(([parameter, factors]) => {
        const value = String(input[parameter])
        return `multiplier ${parameter} ${value} ${Object.hasOwn(factors, value) ? factors[value] : 'none'}`
      }),
    ...surcharges
      .filter(({ when }) => input[when.parameter] === when.equals)
      .map(({ when, usdMicros }) => `surcharge ${when.parameter} ${JSON.stringify(when.equals)} ${usdMicros}`),
  ]
  const found = lines.map(line => describe(line, input))
  const strange = found.find(line => !expected.includes(line))
  if (strange !== undefined) return `its receipt has the line "${strange}", which the price list does not give`
  const missing = expected.find(line => !found.includes(line))
  if (missing !== undefined) return `its receipt lacks the line "${missing}" of the price list`
  return found.length === expected.length ? undefined : 'its receipt has a line twice'
}

const describe = (line: ReceiptLine, input: Record<string, unknown>): string => {
  const { kind, parameter = '', value, amountMicros, factorMicros, usdMicros } = line
  if (kind === 'base') return `base ${amountMicros}`
  if (kind === 'quantity') return `quantity ${parameter} ${value}`
  if (kind === 'multiplier') return `multiplier ${parameter} ${value} ${factorMicros}`
  // In format 1, a surcharge does not say which value it is for: it is that of the input.
  const { equals = input[parameter] } = line
  return `surcharge ${parameter} ${JSON.stringify(equals)} ${usdMicros}`
}

/** A factor in millionths. Quantities have six decimals at most. */
const factorOf = ({ kind, value, factorMicros }: ReceiptLine): bigint =>
  BigInt(kind === 'quantity' ? Math.round(Number(value) * 1_000_000) : (factorMicros ?? 0))

const dividedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor
