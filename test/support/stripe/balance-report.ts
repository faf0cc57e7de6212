import type { Stripe } from 'stripe'
import { fromMinorUnits } from '../../../src/adapters/payments/minor-units.ts'
import type { Store } from './store.ts'

/** The default columns and those of the payment: https://docs.stripe.com/reports/report-types/balance */
const COLUMNS = [
  ...['balance_transaction_id', 'created_utc', 'created', 'available_on', 'currency', 'gross', 'fee', 'net'],
  ...['reporting_category', 'source_id', 'description', 'customer_facing_amount', 'customer_facing_currency'],
  ...['charge_id', 'payment_intent_id'],
]

/** The report `balance_change_from_activity.itemized.3` of a stub, with a row as an object for each transaction. */
export const balanceReport = (store: Store): Record<string, string>[] =>
  store.all('balance_transaction').map(transaction => {
    const { id, created, currency, amount, fee, net, source } = transaction
    const [at, money] = [timeText(created), (units: number) => fromMinorUnits(units, currency).amount]
    const charge = chargeOf(store, String(source))
    return {
      ...{ balance_transaction_id: id, created_utc: at, created: at, available_on: at, currency },
      ...{ gross: money(amount), fee: money(fee), net: money(net) },
      reporting_category: categoryOf(transaction),
      ...{ source_id: String(source), description: 'Starter: 1,000 "credits"' },
      ...{ customer_facing_amount: money(amount), customer_facing_currency: currency },
      ...{ charge_id: charge?.id ?? '', payment_intent_id: String(charge?.payment_intent ?? '') },
    }
  })

/** Stripe quotes all cells. */
export const reportText = (rows: Record<string, string>[], columns = COLUMNS): string =>
  [columns, ...rows.map(row => columns.map(column => row[column] ?? ''))]
    .map(cells => `${cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`)
    .join('')

const timeText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')

/** https://docs.stripe.com/reports/reporting-categories */
const categoryOf = ({ type, amount }: Stripe.BalanceTransaction): string => {
  if (type !== 'adjustment') return type
  return amount < 0 ? 'dispute' : 'dispute_reversal'
}

const chargeOf = (store: Store, source: string): Stripe.Charge | undefined => {
  const of = [...store.all('refund'), ...store.all('dispute')].find(({ id }) => id === source)
  return store.all('charge').find(({ id }) => id === (of?.charge ?? source))
}
