import type { RecordedMove } from './recorded-sales.ts'
import type { ReportLine, Sum } from './stripe-report.ts'

/** `other`: the line is not about a purchase, but for example about a payout. */
export type Status = 'matched' | 'differs' | 'missing in the ledger' | 'missing at Stripe' | 'other'

export interface Compared {
  status: Status
  /** Missing if only the ledger has it. */
  line?: ReportLine
  /** Missing if only the report has it. */
  move?: RecordedMove
  /** The differences, in words. */
  faults: string[]
}

/** From the first time up to, but not including, the second. */
export interface Range {
  from?: string | undefined
  to?: string | undefined
}

/** The categories of purchases, from https://docs.stripe.com/reports/reporting-categories. */
const CATEGORIES = new Set<string>(['charge', 'refund', 'refund_failure', 'dispute', 'dispute_reversal'])

/**
 * Compares the report with the ledger, line by line. Returns the lines in their order, then the moves in the range that
 * the report lacks. By default, the range is from the first line to the last.
 */
export const reconcile = (lines: readonly ReportLine[], moves: readonly RecordedMove[], range: Range = {}) => {
  const open = new Map<string, RecordedMove[]>()
  for (const move of moves) {
    const key = `${move.category} ${move.object}`
    open.set(key, [...(open.get(key) ?? []), move])
  }
  const compared = lines.map((line): Compared => {
    if (!CATEGORIES.has(line.category)) return { status: 'other', line, faults: [] }
    const object = line.category === 'charge' ? line.paymentId : line.source
    const move = open.get(`${line.category} ${object}`)?.shift()
    if (!move) return { status: 'missing in the ledger', line, faults: [] }
    const faults = faultsOf(line, move)
    return { status: faults.length > 0 ? 'differs' : 'matched', line, move, faults }
  })
  const times = lines.map(({ at }) => Date.parse(at)).sort((one, other) => one - other)
  const fromMs = range.from === undefined ? (times[0] ?? 0) : Date.parse(range.from)
  // Times of the report have no milliseconds.
  const toMs = range.to === undefined ? (times.at(-1) ?? 0) + 1000 : Date.parse(range.to)
  const isIn = ({ at }: RecordedMove) => Date.parse(at) >= fromMs && Date.parse(at) < toMs
  const left = [...open.values()].flat().filter(move => isIn(move) && !isRefused(move, moves))
  return [...compared, ...left.map((move): Compared => ({ status: 'missing at Stripe', move, faults: [] }))]
}

const faultsOf = (line: ReportLine, { category, sum, fee }: RecordedMove): string[] => [
  ...(sum && !isSame(sum, line.sum) ? [`the amount is ${sumText(line.sum)} at Stripe, ${sumText(sum)} here`] : []),
  ...(category === 'charge' && !(fee && isSame(fee, line.fee))
    ? [`the fee is ${sumText(line.fee)} at Stripe, ${fee ? sumText(fee) : 'not recorded'} here`]
    : []),
]

/** Stripe does not make a refund that it refuses, so the report has neither the refund nor its failure. */
const isRefused = ({ object }: RecordedMove, moves: readonly RecordedMove[]): boolean =>
  OWN_CLAIM.test(object) && moves.some(move => move.category === 'refund_failure' && move.object === object)

/** Our own ID of a requested refund, which Stripe has not accepted. */
const OWN_CLAIM = /^ref_[0-7][0-9a-hjkmnp-tv-z]{25}$/

const isSame = (one: Sum, other: Sum): boolean => one.micros === other.micros && one.currency === other.currency

export const sumText = ({ micros, currency }: Sum): string => {
  const digits = String(micros).padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -6)}.${fraction} ${currency}`
}
