import { Books } from '../books/books.ts'
import { type LedgerLine, totalOf } from '../books/ledger-line.ts'
import { toCredits } from '../decimal.ts'
import { csvRow, csvText as text } from './csv-row.ts'
import type { Exporter } from './exporter.ts'
import { takeLine } from './take-line.ts'

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
  account: ({ account }) => text(account),
  revision: ({ revision }) => String(revision),
  position: ({ position }) => String(position),
  event_id: ({ eventId }) => text(eventId),
  time: ({ at }) => at,
  kind: ({ kind }) => kind,
  grant_kind: ({ grantKind = '' }) => grantKind,
  amount: ({ change }) => toCredits(totalOf(change)),
  amount_free: ({ change }) => toCredits(change.freeMicros),
  amount_paid: ({ change }) => toCredits(change.paidMicros),
  balance: ({ balance }) => toCredits(totalOf(balance)),
  balance_free: ({ balance }) => toCredits(balance.freeMicros),
  balance_paid: ({ balance }) => toCredits(balance.paidMicros),
  run_id: ({ run }) => text(run?.runId),
  model: ({ run }) => text(run?.model),
  endpoint: ({ run }) => text(run?.endpoint),
  key_id: ({ run }) => text(run?.keyId),
  reference: ({ reference }) => text(reference),
  reason: ({ reason }) => text(reason),
  hash: ({ hash }) => text(hash),
  label: ({ run }) => text(run?.label),
  payment_amount: ({ payment }) => payment?.amount ?? '',
  payment_currency: ({ payment }) => payment?.currency ?? '',
  payment_invoice: ({ payment }) => text(payment?.invoice),
}
