import { microsOf } from '../decimal.ts'
import { type CsvRow, csvRows, NotATable } from './csv-rows.ts'

/** A sum in millionths of a currency, without its sign. */
export interface Sum {
  micros: bigint
  currency: string
}

/** A line of the report, for one balance transaction. */
export interface ReportLine {
  line: number
  /** The balance transaction. */
  id: string
  /** In UTC, such as `2026-11-23T10:00:00Z`. */
  at: string
  category: string
  /** The object of the transaction, such as a refund. */
  source: string
  paymentId: string
  /** The amount that the customer paid or got back. */
  sum: Sum
  /** In the currency of the balance. */
  fee: Sum
}

/**
 * The columns that the comparison needs, of the report `balance_change_from_activity.itemized`:
 * https://docs.stripe.com/reports/report-types/balance
 */
const COLUMNS = [
  ...['balance_transaction_id', 'created_utc', 'reporting_category', 'currency', 'gross', 'fee', 'source_id'],
  ...['payment_intent_id', 'customer_facing_amount', 'customer_facing_currency'],
]

/** Reads the itemized report of balance changes from activity. Throws NotATable for other text. */
export const readStripeReport = (text: string): ReportLine[] => csvRows(text, COLUMNS).map(lineOf)

const lineOf = ({ line, cell }: CsvRow): ReportLine => {
  const sumIn = (column: string, currency: string): Sum => {
    const [, amount] = /^-?(\d+(?:\.\d{1,6})?)$/.exec(cell(column)) ?? []
    if (amount === undefined)
      throw new NotATable(line, `${column} is not an amount with a decimal point: ${cell(column)}`)
    return { micros: microsOf(amount), currency: cell(currency).toUpperCase() }
  }
  // May be missing if the customer paid in the currency of the balance.
  const isFacing = cell('customer_facing_amount') !== ''
  return {
    line,
    id: cell('balance_transaction_id'),
    at: timeOf(line, cell('created_utc')),
    category: cell('reporting_category'),
    source: cell('source_id'),
    paymentId: cell('payment_intent_id'),
    sum: isFacing ? sumIn('customer_facing_amount', 'customer_facing_currency') : sumIn('gross', 'currency'),
    fee: sumIn('fee', 'currency'),
  }
}

const timeOf = (line: number, text: string): string => {
  const [, day, time, seconds = ':00'] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?/.exec(text) ?? []
  const at = `${day}T${time}${seconds}Z`
  if (day === undefined || Number.isNaN(Date.parse(at))) throw new NotATable(line, `created_utc is not a time: ${text}`)
  return at
}
