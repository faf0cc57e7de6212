import { DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from '../../../schemas/primitives.ts'
import { DAY_MS, dayOf } from '../../domain/days.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Refused } from '../answer.ts'

/** UTC days: the first one is included, the second one is not. */
export interface Days {
  from: string
  to: string
}

/** Earlier years have more than four digits, which no time of the log has. */
const FIRST_DAY_MS = Date.parse('0000-01-01')

/** The days that are asked for; without any, those up to the end of this one. */
export const daysOf = (
  { from, to }: Partial<Record<keyof Days, string | undefined>>,
  nowMs: number,
): Days | Refused => {
  const end = to ?? dayOf(nowMs + DAY_MS)
  const start = from ?? dayOf(Math.max(FIRST_DAY_MS, Date.parse(end) - DEFAULT_USAGE_DAYS * DAY_MS))
  const count = (Date.parse(end) - Date.parse(start)) / DAY_MS
  if (count < 1 || count > MAX_USAGE_DAYS) return refuse('usage_days_invalid', { maxDays: MAX_USAGE_DAYS })
  return { from: start, to: end }
}
