import { type AccountLimits, type GrantKind, MAX_LIMIT, type Payment } from '../../schemas/account-events.ts'
import { MAX_ACTOR_NAME_LENGTH } from '../../schemas/actor.ts'
import { isLine, normalized } from '../../schemas/names.ts'
import {
  CURRENCY,
  MAX_GRANT_MICROS,
  MAX_NAME_LENGTH,
  MAX_REASON_LENGTH,
  MAX_REFERENCE_LENGTH,
  MONEY_AMOUNT,
} from '../../schemas/primitives.ts'
import { decimalsOf } from '../domain/currencies.ts'
import { fromMicros, toMicros } from '../domain/money.ts'
import { OperatorError } from './operator-error.ts'

/** Parses an amount of credits into microcredits. Throws OperatorError if it is not a valid amount. */
export const parseCredits = (text: string, { least }: { least: number }): number => {
  const credits = /^\d+(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  // A larger number may have no exact amount of microcredits.
  const micros = credits <= fromMicros(MAX_GRANT_MICROS) ? toMicros(credits) : Number.NaN
  if (!(micros >= least))
    throw new OperatorError(
      [
        `${JSON.stringify(text)} must be a number of credits from ${fromMicros(least)} to`,
        `${fromMicros(MAX_GRANT_MICROS)}, with at most six decimals.`,
      ].join(' '),
    )
  return micros
}

interface LimitOptions {
  requestsPerMinute?: string
  runsInFlight?: string
  default?: boolean
}

/** The limits that the options set. Throws OperatorError if there are none, or if they contradict each other. */
export const parseAccountLimits = ({ default: isDefault, ...given }: LimitOptions): AccountLimits | 'default' => {
  const { requestsPerMinute, runsInFlight } = given
  const isSet = requestsPerMinute !== undefined || runsInFlight !== undefined
  if (isSet === (isDefault === true))
    throw new OperatorError('Give --requests-per-minute, --runs-in-flight or both, or only --default.')
  if (isDefault) return 'default'
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute: parseLimit(requestsPerMinute) }),
    ...(runsInFlight !== undefined && { runsInFlight: parseLimit(runsInFlight) }),
  }
}

const parseLimit = (text: string): number => {
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LIMIT)
    throw new OperatorError(`${JSON.stringify(text)} must be a whole number from 1 to ${MAX_LIMIT}.`)
  return limit
}

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
  if (named === undefined) throw new OperatorError('A purchase needs its invoice, as --invoice or --reference.')
  checkText('invoice', named, MAX_REFERENCE_LENGTH)
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
        "A purchase needs what was paid, such as --paid '25.00 EUR'. The amount has no separator for thousands,",
        'and a point before the decimals.',
      ].join(' '),
    )
  const most = decimalsOf(currency)
  if (most === undefined) throw new OperatorError(`${currency} is no currency in use by ISO 4217.`)
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

/** The name of a key. Throws OperatorError for a name that no key can have. */
export const parseKeyName = (name: string) => parseName('name of a key', name, MAX_NAME_LENGTH)

/** The name of an auditor. Throws OperatorError for a name that no auditor can have. */
export const parseAuditorName = (name: string) => parseName('name of an auditor', name, MAX_ACTOR_NAME_LENGTH)

/** Throws OperatorError for a reason that no grant can have. */
export const checkReason = (reason: string) => checkText('reason', reason, MAX_REASON_LENGTH)

/** Throws OperatorError for a reference that no grant can have. */
export const checkReference = (reference: string) => checkText('reference', reference, MAX_REFERENCE_LENGTH)

const parseName = (what: string, text: string, limit: number): string => {
  const name = normalized(text)
  checkText(what, name, limit)
  return name
}

/** As in the name of an actor: other characters could hide or break a line of a report, or control a terminal. */
const checkText = (what: string, text: string, limit: number) => {
  if (text === '' || [...text].length > limit || !isLine(text))
    throw new OperatorError(`The ${what} must have 1 to ${limit} printable characters.`)
}
