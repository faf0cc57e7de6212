import { parseTime } from '../audit/as-of.ts'
import { isWholeMicros, toMicros } from '../domain/money.ts'
import type { AccountMoment } from '../services/ledger/past-line.ts'
import { MAX_PATH_LENGTH } from '../services/schema-check.ts'
import { ApiError } from './api-error.ts'

/** The days of a query, or of a tool's arguments. Throws invalid_request for a time at which no UTC day begins. */
export const daysOf = ({ from, to }: { from?: string; to?: string }, part = 'query') => ({
  from: from === undefined ? undefined : dayOf('from', from, part),
  to: to === undefined ? undefined : dayOf('to', to, part),
})

const dayOf = (name: string, text: string, part: string): string => {
  const [day = '', time] = timeOf(name, text, part).split('T')
  if (time === '00:00:00.000Z') return day
  throw placeFault(name, 'must be a date or a midnight in UTC, because usage is counted by UTC days', part)
}

/**
 * A time of the log from a parameter with a date or time. Throws invalid_request if the calendar lacks it. `part` is
 * the part of the request that holds the parameter.
 */
export const timeOf = (name: string, text: string, part: string): string => {
  const time = parseTime(text)
  if (time !== undefined) return time
  throw placeFault(name, 'must be a date or time that exists', part)
}

/** The error for one place of a request. */
export const placeFault = (name: string, message: string, part: string) => {
  const path = `/${name}`.slice(0, MAX_PATH_LENGTH)
  return new ApiError('invalid_request', `Invalid ${part}: ${path} ${message}.`, { errors: [{ path, message }] })
}

/** Credits in a field of the body as microcredits. Throws invalid_request for more than six decimals. */
export const microsOf = (name: string, credits: number): number => {
  if (!isWholeMicros(credits)) throw placeFault(name, 'must have at most six decimals', 'body')
  return toMicros(credits)
}

/** The same, or the revision in a parameter. */
export const momentOf = (name: string, text: string): AccountMoment =>
  /^\d+$/.test(text) ? { revision: Number(text) } : { at: timeOf(name, text, 'query') }

/** The period of a query, or of a tool's arguments. */
export const periodOf = ({ from, to }: { from?: string; to?: string }, part = 'query') => ({
  from: from === undefined ? undefined : timeOf('from', from, part),
  to: to === undefined ? undefined : timeOf('to', to, part),
})
