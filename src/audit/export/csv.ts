import { stringify } from 'csv-stringify/sync'
import { Books, type LedgerLine, totalOf } from '../books.ts'
import { toCredits } from '../decimal.ts'
import { type Exporter, takeLine } from './exporter.ts'

/** A table by RFC 4180 with a line for each movement of credits. `docs/exports.md` promises its columns. */
export const csvExporter = (): Exporter => {
  const books = new Books()
  return {
    head: csvRow(Object.keys(columns)),
    take: event => {
      const line = takeLine(books, event)
      return line ? csvRow(Object.values(columns).map(cell => cell(line))) : ''
    },
  }
}

const columns: Record<string, (line: LedgerLine) => string> = {
  account: ({ account }) => csvText(account),
  revision: ({ revision }) => String(revision),
  position: ({ position }) => String(position),
  event_id: ({ eventId }) => csvText(eventId),
  time: ({ at }) => at,
  kind: ({ kind }) => kind,
  grant_kind: ({ grantKind = '' }) => grantKind,
  amount: ({ change }) => toCredits(totalOf(change)),
  amount_free: ({ change }) => toCredits(change.freeMicros),
  amount_paid: ({ change }) => toCredits(change.paidMicros),
  balance: ({ balance }) => toCredits(totalOf(balance)),
  balance_free: ({ balance }) => toCredits(balance.freeMicros),
  balance_paid: ({ balance }) => toCredits(balance.paidMicros),
  run_id: ({ run }) => csvText(run?.runId),
  model: ({ run }) => csvText(run?.model),
  endpoint: ({ run }) => csvText(run?.endpoint),
  key_id: ({ run }) => csvText(run?.keyId),
  reference: ({ reference }) => csvText(reference),
  reason: ({ reason }) => csvText(reason),
  hash: ({ hash }) => csvText(hash),
  label: ({ run }) => csvText(run?.label),
  payment_amount: ({ payment }) => payment?.amount ?? '',
  payment_currency: ({ payment }) => payment?.currency ?? '',
  payment_invoice: ({ payment }) => csvText(payment?.invoice),
}

/**
 * A line of a table by RFC 4180. Many readers also end a line at half of a line end, which csv-stringify does not quote
 * by itself.
 */
export const csvRow = (cells: string[]): string =>
  stringify([cells], { record_delimiter: 'windows', quoted_match: /[\r\n]/ })

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe before it, as spreadsheets write texts. Some
 * take the wide forms of the signs too.
 */
export const csvText = (value: string | undefined): string =>
  value?.replace(/^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/, "'$&") ?? ''
