import { parseTime } from '../as-of.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** The day of a time in UTC, such as `2026-11-23`; undefined if the calendar has no such day. */
export const dayOf = (at: string): string | undefined => {
  const day = at.slice(0, 10)
  return parseTime(day) === undefined ? undefined : day
}

export const dayAfter = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)
