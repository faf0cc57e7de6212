/** The receipt of a debit or of a release. */
export interface Receipt {
  lines: Line[]
  totalMicros: number
  counted?: unknown
}

interface Line {
  kind: string
  amountMicros?: number
  factorMicros?: number
  value?: unknown
  tokens?: string
  count?: number
  perMillionMicros?: number
}

export const hasTokens = ({ lines }: Receipt): boolean => lines.some(({ kind }) => kind === 'tokens')

/** The lines of a debit with the tokens that its run has used. */
export const usedLines = ({ lines }: Receipt, usage: Record<string, unknown>): Line[] =>
  lines.map(line => (line.kind === 'tokens' ? { ...line, count: usage[line.tokens ?? ''] as number } : line))

/** The price that lines add up to, as `docs/ledger-format.md` recomputes it, in whole millionths of microcredits. */
export const priceOf = (lines: Line[]): number => {
  const [base] = lines.filter(({ kind }) => kind === 'base')
  const factors = lines.filter(({ kind }) => kind === 'quantity' || kind === 'multiplier')
  let sum = BigInt(base?.amountMicros ?? 0)
  for (const { value, factorMicros } of factors) sum *= BigInt(factorMicros ?? Math.round(Number(value) * 1_000_000))
  const divisor = 10n ** (6n * BigInt(factors.length + 1))
  sum *= 1_000_000n
  for (const { count = 0, perMillionMicros = 0 } of lines)
    sum += (BigInt(count) * BigInt(perMillionMicros) * divisor) / 1_000_000n
  const rounded = sum / divisor + (sum % divisor > 0n ? 1n : 0n)
  return lines
    .filter(({ kind }) => kind === 'surcharge')
    .reduce((total, { amountMicros = 0 }) => total + amountMicros, Number(rounded))
}
