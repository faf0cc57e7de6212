import type { GrantKind, Payment } from '../../schemas/account-events.ts'
import { CURRENCY, MONEY_AMOUNT } from '../../schemas/primitives.ts'
import { decimalsOf } from '../domain/currencies.ts'
import { checkInvoice } from './arguments.ts'
import { OperatorError } from './operator-error.ts'

interface PurchaseOptions {
  kind: GrantKind
  paid?: string
  invoice?: string
  reference?: string
}

/** The money that a purchase cost; undefined for other kinds. Throws OperatorError if it is missing or out of place. */
export const parsePayment = ({ kind, paid, invoice, reference }: PurchaseOptions): Payment | undefined => {
  if (kind !== 'purchase') {
    if (paid === undefined && invoice === undefined) return undefined
    throw new OperatorError('Only a purchase has a payment: add --kind purchase, or omit --paid and --invoice.')
  }
  const money = parseMoney(paid)
  const named = invoice ?? reference
  if (named === undefined) throw new OperatorError('A purchase needs an invoice: give --invoice or --reference.')
  checkInvoice(named)
  return { ...money, invoice: named }
}

/**
 * An amount of a currency in use, with no more decimals than it has: `1.000 EUR` means a thousand in most of Europe.
 * Throws OperatorError.
 */
const parseMoney = (paid = ''): Pick<Payment, 'amount' | 'currency'> => {
  const { amount, currency } = PAID.exec(paid)?.groups ?? {}
  if (!amount || !currency)
    throw new OperatorError(
      [
        "A purchase needs the amount paid, such as --paid '25.00 EUR'. Write the amount without a separator for",
        'thousands, and with a point before the decimals.',
      ].join(' '),
    )
  const most = decimalsOf(currency)
  if (most === undefined) throw new OperatorError(`${currency} is not a current ISO 4217 currency.`)
  if ((amount.split('.')[1] ?? '').length > most)
    throw new OperatorError(
      [
        `${JSON.stringify(paid)} is not clear: an amount in ${currency} has ${most || 'no'} decimals.`,
        'Write it without a separator for thousands.',
      ].join(' '),
    )
  return { amount, currency }
}

const PAID = new RegExp(`^(?<amount>${MONEY_AMOUNT}) ?(?<currency>${CURRENCY})$`)

/** A payment as it was understood, with all the decimals of its currency. */
export const moneyText = ({ amount, currency }: Payment): string => {
  const [whole = '', decimals = ''] = amount.split('.')
  const padded = decimals.padEnd(decimalsOf(currency) ?? 0, '0')
  return `${padded === '' ? whole : `${whole}.${padded}`} ${currency}`
}
