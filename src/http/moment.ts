import { parseTime } from '../audit/as-of.ts'
import type { AccountMoment } from '../services/ledger/line-at.ts'
import { ApiError } from './api-error.ts'

/** A time of the log from a parameter with a date or time. Throws invalid_request if the calendar lacks it. */
export const timeOf = (name: string, text: string): string => {
  const time = parseTime(text)
  if (time !== undefined) return time
  const message = 'must be a date or time that exists'
  throw new ApiError('invalid_request', `Invalid query: /${name} ${message}.`, {
    errors: [{ path: `/${name}`, message }],
  })
}

/** The same, or the revision in a parameter. */
export const momentOf = (name: string, text: string): AccountMoment =>
  /^\d+$/.test(text) ? { revision: Number(text) } : { at: timeOf(name, text) }

/** The period of a query. */
export const periodOf = ({ from, to }: { from?: string; to?: string }) => ({
  from: from === undefined ? undefined : timeOf('from', from),
  to: to === undefined ? undefined : timeOf('to', to),
})
