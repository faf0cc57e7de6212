import { InvalidArgumentError } from 'commander'
import { type AccountLimits, MAX_LIMIT } from '../../schemas/account-events.ts'
import { MAX_ACTOR_NAME_LENGTH } from '../../schemas/actor.ts'
import { isLine, normalized } from '../../schemas/names.ts'
import {
  MAX_GRANT_MICROS,
  MAX_NAME_LENGTH,
  MAX_REASON_LENGTH,
  MAX_REFERENCE_LENGTH,
  MONEY_AMOUNT,
} from '../../schemas/primitives.ts'
import { parseTime } from '../audit/as-of.ts'
import type { KeptSeal } from '../audit/kept-seals.ts'
import type { NamedSeal } from '../audit/proofs/sealed-log.ts'
import { decimalsOf } from '../domain/currencies.ts'
import { decimalsIn, withDecimals } from '../domain/decimal-amounts.ts'
import { fromMicros, toMicros } from '../domain/money.ts'
import { OperatorError, UNABLE } from './operator-error.ts'

/** Parses an amount of credits into microcredits. Throws OperatorError for an invalid amount. */
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

/**
 * Parses an amount of money in a known currency, and writes it with all of the currency's decimals. `1.000 EUR` means a
 * thousand in most of Europe, so more decimals are refused. Throws OperatorError.
 */
export const parseAmount = (text: string, currency: string): string => {
  if (!AMOUNT.test(text))
    throw new OperatorError(
      [
        `${JSON.stringify(text)} is not an amount in ${currency}: write a number such as 5, without a currency or a`,
        'separator for thousands, and with a point before the decimals.',
      ].join(' '),
    )
  const decimals = decimalsOf(currency) ?? decimalsIn(text)
  if (decimalsIn(text) > decimals)
    throw new OperatorError(
      [
        `${JSON.stringify(text)} is not clear: an amount in ${currency} has ${decimals || 'no'} decimals.`,
        'Write it without a separator for thousands.',
      ].join(' '),
    )
  return withDecimals(text, decimals)
}

const AMOUNT = new RegExp(`^${MONEY_AMOUNT}$`)

/** Parses the bounds of a period, of which each may be missing. Throws OperatorError. */
export const parsePeriod = (options: { from?: string; to?: string }): { from?: string; to?: string } => {
  const bound = (name: 'from' | 'to') => {
    const text = options[name]
    const time = text === undefined ? undefined : parseTime(text)
    if (text !== undefined && time === undefined)
      throw new OperatorError(`--${name} must be a date such as 2026-11-01, or a time with a zone.`)
    return time
  }
  const [from, to] = [bound('from'), bound('to')]
  if (from !== undefined && to !== undefined && from >= to) throw new OperatorError('--to must be later than --from.')
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

interface LimitOptions {
  requestsPerMinute?: string
  runsInFlight?: string
  default?: boolean
}

/** The limits that the options set. Throws OperatorError if the options set no limit or contradict each other. */
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

/** Parses the time at which something expires. Throws OperatorError for an invalid time. */
export const parseExpiry = (text: string): string => {
  const time = parseTime(text)
  if (time === undefined)
    throw new OperatorError(`${JSON.stringify(text)} is not a date or time: write 2027-01-01, or 2027-01-01T18:00:00Z.`)
  return time
}

const parseLimit = (text: string): number => {
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LIMIT)
    throw new OperatorError(`${JSON.stringify(text)} must be a whole number from 1 to ${MAX_LIMIT}.`)
  return limit
}

/** Throws OperatorError for an invalid name of a key. */
export const parseKeyName = (name: string) => parseName('name of a key', name, MAX_NAME_LENGTH)

/** Throws OperatorError for an invalid name of an auditor. */
export const parseAuditorName = (name: string) => parseName('name of an auditor', name, MAX_ACTOR_NAME_LENGTH)

/** Throws OperatorError for an invalid reason. */
export const checkReason = (reason: string) => checkText('reason', reason, MAX_REASON_LENGTH)

/** Throws OperatorError for an invalid reference. */
export const checkReference = (reference: string) => checkText('reference', reference, MAX_REFERENCE_LENGTH)

/** Throws OperatorError for an invalid invoice. */
export const checkInvoice = (invoice: string) => checkText('invoice', invoice, MAX_REFERENCE_LENGTH)

const parseName = (what: string, text: string, limit: number): string => {
  const name = normalized(text)
  checkText(what, name, limit)
  return name
}

/** Other characters could hide or break a line of a report, or control a terminal. */
const checkText = (what: string, text: string, limit: number) => {
  if (text === '' || [...text].length > limit || !isLine(text))
    throw new OperatorError(`The ${what} must have 1 to ${limit} printable characters.`)
}

/** Parses the name of a seal, such as 12:sha256-6cdf…, or an old name such as 12:6cdf…. Throws OperatorError. */
export const parseSeal = (option: string, text: string): KeptSeal => {
  const [, digits, digest] = /^(0|[1-9]\d{0,14}):((?:sha256-)?[0-9a-f]{64})$/.exec(text) ?? []
  const number = Number(digits)
  if (digest) return { number, name: `${number}:${digest}` }
  throw new OperatorError(`${option} must be a seal such as 12:sha256-6cdf…, with 64 hexadecimal digits.`, UNABLE)
}

/** Parses the number or the name of a seal. Throws OperatorError. */
export const parseNamedSeal = (option: string, text: string): NamedSeal => {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return { number: Number(text) }
  if (text.includes(':')) return parseSeal(option, text)
  throw new OperatorError(
    `${option} must be the number of a seal, such as 12, or its name, such as 12:sha256-6cdf….`,
    UNABLE,
  )
}

/** Parses the limit of a list. */
export const positive = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('The limit must be a number from 1 to 999999.')
  return Number(text)
}
