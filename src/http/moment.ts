import { parseTime } from '../audit/as-of.ts'
import type { AccountMoment } from '../services/ledger/line-at.ts'
import { ApiError } from './api-error.ts'

/**
 * A time of the log from a parameter with a date or time. Throws invalid_request if the calendar lacks it. `what` is
 * the part of the request that holds the parameter.
 */
const timeOf = (name: string, text: string, what: string): string => {
  const time = parseTime(text)
  if (time !== undefined) return time
  const path = `/${name}`
  const message = 'must be a date or time that exists'
  throw new ApiError('invalid_request', `Invalid ${what}: ${path} ${message}.`, { errors: [{ path, message }] })
}

/** The same, or the revision in a parameter. */
export const momentOf = (name: string, text: string): AccountMoment =>
  /^\d+$/.test(text) ? { revision: Number(text) } : { at: timeOf(name, text, 'query') }

/** The period of a query, or of a tool's arguments. */
export const periodOf = ({ from, to }: { from?: string; to?: string }, what = 'query') => ({
  from: from === undefined ? undefined : timeOf('from', from, what),
  to: to === undefined ? undefined : timeOf('to', to, what),
})
