import { isDeepStrictEqual } from 'node:util'
import { isTokens, type Receipt, receiptFault, totalOf } from './prices.ts'

/** Whether a receipt has a price for tokens, so that its debit is the most that the run can cost. */
export const isReserve = ({ lines }: Receipt): boolean => lines.some(isTokens)

export interface Release {
  amountMicros: number
  receipt: Receipt
}

interface Reserved {
  chargedMicros: number
  /** The receipt of the debit if it is a reserve. */
  reserve?: Receipt | undefined
  /** The receipt of an earlier release. */
  settled?: Receipt | undefined
}

/** Checks what is given back of a debit because the tokens of its run cost less. */
export function* releaseFaults(
  { amountMicros, receipt }: Release,
  { chargedMicros, reserve, settled }: Reserved,
): Generator<string> {
  if (settled) yield 'the run was settled before'
  if (!reserve) return yield 'it settles a run whose tokens have no price'
  const fault = receiptFault(receipt)
  if (fault) yield fault
  if (!isDeepStrictEqual(withoutCounts(receipt), withoutCounts(reserve)))
    yield 'its receipt has other lines or rates than the receipt of its debit'
  const unneededMicros = chargedMicros - receipt.totalMicros
  if (amountMicros !== unneededMicros)
    yield `it releases ${amountMicros}, and the run did not need ${unneededMicros} of its debit`
}

/** A receipt without the counts of tokens, and what follows from them. */
const withoutCounts = ({ totalMicros: _total, counted: _counted, lines, ...receipt }: Receipt) => ({
  ...receipt,
  lines: lines.map(({ count: _count, ...line }) => line),
})

/** The tokens that a run has used, by kind, and whether the service counted them. */
export type Usage = Readonly<Record<string, number | boolean>>

/**
 * Compares the tokens of a completed run with its release or, without one, with its debit, which the run then needed in
 * full. Returns the fault, or undefined.
 */
export const usageFault = (usage: Usage | undefined, reserve: Receipt, settled?: Receipt): string | undefined => {
  if (!usage) return 'it does not tell the tokens of the run, which have a price'
  const lines = reserve.lines.map(line => (line.tokens ? { ...line, count: Number(usage[line.tokens]) } : line))
  if (settled) {
    const isSame = isDeepStrictEqual(settled.lines, lines) && settled.counted === usage['counted']
    return isSame ? undefined : 'its usage is not what the release before it is for'
  }
  const total = totalOf(lines)
  if (total >= BigInt(reserve.totalMicros)) return undefined
  return `its tokens cost ${total} of the ${reserve.totalMicros} that were debited, and nothing was released`
}
