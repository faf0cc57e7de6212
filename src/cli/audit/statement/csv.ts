import { type LedgerLine, totalOf } from '../../../audit/books.ts'
import { toCredits } from '../../../audit/decimal.ts'
import { csvRow, csvText as text } from '../../../audit/export/csv.ts'
import type { Split } from '../../../audit/lots.ts'
import type { Statement } from '../../../audit/statement/statement.ts'
import { localText } from '../../../audit/statement/zone.ts'
import { priceOf } from './sheet.ts'

/**
 * A statement as a table by RFC 4180, in pieces: the opening balance, a row for each line, and the closing balance.
 * `docs/exports.md` documents the columns.
 */
export function* statementToCsv(statement: Statement): Generator<string> {
  const { period, opening, lines, closing, seal } = statement
  const rowOf = (row: Row) => csvRow(Object.values(columns).map(cell => cell(row, statement)))
  yield csvRow(Object.keys(columns))
  yield rowOf({ kind: 'opening', at: period.from, balance: opening })
  for (const line of lines) yield rowOf({ ...line, sealed: line.isSealed ? 'yes' : 'no' })
  yield rowOf({ kind: 'closing', at: period.to, balance: closing, seal: seal?.name })
}

interface Row extends Partial<Omit<LedgerLine, 'kind'>> {
  kind: LedgerLine['kind'] | 'opening' | 'closing'
  at: string
  balance: Split
  sealed?: 'yes' | 'no'
  seal?: string | undefined
  bookedIn?: string
}

const amount = (split: Split | undefined, of: (split: Split) => number): string => (split ? toCredits(of(split)) : '')
const free = ({ freeMicros }: Split) => freeMicros
const paid = ({ paidMicros }: Split) => paidMicros
const number = (value: number | undefined): string => (value === undefined ? '' : String(value))

const columns: Record<string, (row: Row, statement: Statement) => string> = {
  account: (_, { account }) => text(account.accountId),
  email: (_, { account }) => text(account.email ?? ''),
  kind: ({ kind }) => kind,
  time: ({ at }) => at,
  local_time: ({ at }, { period }) => localText(at, period.zone),
  revision: ({ revision }) => number(revision),
  // A closed report is the same in every copy of the log, but positions differ between copies.
  position: ({ position }, { closed }) => number(closed ? undefined : position),
  event_id: ({ eventId }) => text(eventId),
  grant_kind: ({ grantKind = '' }) => grantKind,
  amount: ({ change }) => amount(change, totalOf),
  amount_free: ({ change }) => amount(change, free),
  amount_paid: ({ change }) => amount(change, paid),
  balance: ({ balance }) => amount(balance, totalOf),
  balance_free: ({ balance }) => amount(balance, free),
  balance_paid: ({ balance }) => amount(balance, paid),
  run_id: ({ run }) => text(run?.runId),
  model: ({ run }) => text(run?.model),
  endpoint: ({ run }) => text(run?.endpoint),
  price: ({ receipt }) => text(receipt && priceOf(receipt)),
  key_id: ({ run }) => text(run?.keyId),
  reference: ({ reference }) => text(reference),
  reason: ({ reason }) => text(reason),
  payment_amount: ({ payment }) => payment?.amount ?? '',
  payment_currency: ({ payment }) => payment?.currency ?? '',
  payment_invoice: ({ payment }) => text(payment?.invoice),
  hash: ({ hash }) => text(hash),
  sealed: ({ sealed = '' }) => sealed,
  seal: ({ seal }) => text(seal),
  booked_in: ({ bookedIn = '' }) => bookedIn,
  label: ({ run }) => text(run?.label),
  payment_tax: ({ payment }) => payment?.tax ?? '',
}
