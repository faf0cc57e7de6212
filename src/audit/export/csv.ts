import { stringify } from 'csv-stringify/sync'
import { Books, type LedgerLine, totalOf } from '../books.ts'
import { toCredits } from '../decimal.ts'
import { type Exporter, takeLine } from './exporter.ts'

/** A table by RFC 4180, with a line for each movement of credits. `docs/exports.md` documents the columns. */
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
  payment_tax: ({ payment }) => payment?.tax ?? '',
}

/**
 * A line of a table by RFC 4180. Quotes half line ends too: many readers end a line there, but csv-stringify does not
 * quote them.
 */
export const csvRow = (cells: string[]): string =>
  stringify([cells], { record_delimiter: 'windows', quoted_match: /[\r\n]/ })

/**
 * Puts an apostrophe, the spreadsheets' mark of a text, before a text that spreadsheets would read as a formula. Some
 * spreadsheets also read the full-width signs.
 */
export const csvText = (value: string | undefined): string =>
  value?.replace(/^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/, "'$&") ?? ''
