import type { Payment } from '../../../../schemas/account-events.ts'
import type { Receipt } from '../../../../schemas/catalog.ts'
import { type LedgerLine, totalOf } from '../../../audit/books.ts'
import { monthOf } from '../../../audit/closings.ts'
import { decimal, shown } from '../../../audit/decimal.ts'
import { priceSteps, stepToText } from '../../../audit/explain/price-steps.ts'
import type { Split } from '../../../audit/lots.ts'
import type { Figure, Sheet, SheetRow, SummaryRow } from '../../../audit/statement/sheet.ts'
import type { Statement, StatementLine } from '../../../audit/statement/statement.ts'
import { localTimeOf } from '../../../audit/statement/zone.ts'
import { ownerName } from '../../../domain/login/identity.ts'
import { credits, printable, split } from '../text.ts'
import { notesOf } from './notes.ts'

export const sheetOf = (statement: Statement): Sheet => {
  const { account, period, lines } = statement
  const figures = figuresOf(statement)
  return {
    title: 'Statement of credits',
    facts: [
      ['account', account.accountId],
      [account.email === undefined ? 'owner' : 'e-mail', printable(ownerName(account))],
      ['from', momentText(period.from, period.zone)],
      ['to', `${momentText(period.to, period.zone)}, not included`],
      ['time zone', period.zone],
      ...(statement.closed ? ([['report', 'of closed months']] as [string, string][]) : []),
    ],
    summary: summaryOf(statement, figures),
    rows: lines.map(line => rowOf(line, period.zone, figures)),
    notes: notesOf(statement),
    hasOffsets: period.zone !== 'UTC',
  }
}

/** Such as `2026-11-01 00:00:00 +01:00`. Milliseconds are shown unless they are zero. */
const momentText = (at: string, zone: string): string => {
  const { day, time, offset } = localTimeOf(at, zone)
  return `${day} ${time.replace(/\.000$/, '')} ${offset}`
}

const summaryOf = ({ opening, closing, totals, lines }: Statement, figures: Figures): SummaryRow[] => {
  const row = (name: string, amount: Split, isBalance = false): SummaryRow => {
    const show = isBalance ? figures : signed(figures)
    const { freeMicros, paidMicros } = amount
    return { name, total: show(totalOf(amount)), free: show(freeMicros), paid: show(paidMicros), isBalance }
  }
  const has = (searched: LedgerLine['kind']) => lines.some(({ kind }) => kind === searched)
  return [
    row('opening balance', opening, true),
    ...[...totals.granted].map(([kind, amount]) => row(`granted: ${kind}`, amount)),
    ...(has('withdrawal') ? [row('withdrawn', negated(totals.withdrawn))] : []),
    ...(has('debit') ? [row('charged for runs', negated(totals.charged))] : []),
    ...(has('refund') ? [row('refunded', totals.refunded)] : []),
    ...(has('release') ? [row('released', totals.released)] : []),
    ...(has('expiry') ? [row('expired', negated(totals.expired))] : []),
    row('closing balance', closing, true),
  ]
}

const negated = ({ freeMicros, paidMicros }: Split): Split => ({
  freeMicros: 0 - freeMicros,
  paidMicros: 0 - paidMicros,
})

const rowOf = (line: StatementLine, zone: string, figures: Figures): SheetRow => ({
  at: localTimeOf(line.at, zone),
  what: printable(whatOf(line)),
  details: detailsOf(line).map(printable),
  amount: figureOf(line.change, signed(figures)),
  balance: figureOf(line.balance, figures),
})

const figureOf = (amount: Split, figures: Figures): Figure => ({
  total: figures(totalOf(amount)),
  parts: split(amount, figures),
})

export const whatOf = ({ kind, grantKind, run }: LedgerLine): string =>
  ({
    grant: `granted: ${grantKind}`,
    withdrawal: `withdrawn: ${grantKind}`,
    debit: `charged: ${run?.model}`,
    refund: `refunded: ${run?.model}`,
    release: `released: ${run?.model}`,
    expiry: 'expired',
  })[kind]

const detailsOf = ({ at, bookedIn, reason, reference, payment, run, receipt }: StatementLine): string[] =>
  [
    run && (receipt ? `${run.runId}, ${run.endpoint}` : run.runId),
    run?.label !== undefined && `label ${run.label}`,
    receipt && `price: ${priceOf(receipt)}`,
    reason,
    reference !== undefined && `reference ${reference}`,
    payment && `${payment.amount} ${payment.currency} paid${taxIn(payment)}${invoiceIn(payment)}`,
    bookedIn !== undefined && `time of ${monthOf(at)}, booked in ${bookedIn}`,
  ].filter(text => typeof text === 'string')

const invoiceIn = ({ invoice }: Payment): string => (invoice === undefined ? '' : `, invoice ${invoice}`)

const taxIn = ({ tax, currency }: Payment): string => (tax === undefined ? '' : `, ${tax} ${currency} of it tax`)

/** Writes microcredits as credits, such as `1,234.50`. */
type Figures = (micros: number) => string

/** Amounts of money usually have two decimals, and credits have at most six. */
const FEWEST_PLACES = 2
const MOST_PLACES = 6

/** All figures of a statement get the same number of decimals, so that they align. */
const figuresOf = ({ opening, closing, lines }: Statement): Figures => {
  const all = [opening, closing, ...lines.flatMap(({ change, balance }) => [change, balance])]
  const amounts = all.flatMap(({ freeMicros, paidMicros }) => [freeMicros, paidMicros])
  let places = FEWEST_PLACES
  while (places < MOST_PLACES && amounts.some(micros => micros % 10 ** (MOST_PLACES - places) !== 0)) places += 1
  return micros => {
    const [whole = '', fraction = ''] = shown(decimal(BigInt(micros), MOST_PLACES)).split('.')
    return `${whole}.${fraction.padEnd(places, '0')}`
  }
}

/** Also writes the plus sign of a gain. */
export const signed =
  (figures: Figures): Figures =>
  micros =>
    `${micros > 0 ? '+' : ''}${figures(micros)}`

/**
 * A price as one line of arithmetic: `base 10 × 2 (num_images) + 1.5 (…) = 21.5`. Kinds of tokens that the run has not
 * used are left out.
 */
export const priceOf = (receipt: Receipt): string => {
  const steps = priceSteps(receipt).filter(({ line }) => line.kind !== 'tokens' || line.count > 0)
  const terms = steps.map(step => {
    if (step.line.kind === 'base') return `base ${shown(step.result)}`
    const words = stepToText(step, receipt.usdPerCreditMicros)
    return step.line.kind === 'rounding' ? `= ${shown(step.result)} (${words})` : words
  })
  return `${terms.join(' ').replace(/^\+ /, '')} = ${credits(receipt.totalMicros)}`
}
