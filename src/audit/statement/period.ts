import { parseTime } from '../as-of.ts'
import { startOfDay } from './zone.ts'

/** The time that a statement is about. */
export interface Period {
  /** A time of the log, which is included. */
  from: string
  /** A time of the log, which is not. */
  to: string
  /** The zone in which days begin and times are shown. */
  zone: string
}

/** A bound of a period: a date, meaning its first moment in a zone, or a time with an offset. Undefined if neither. */
export const parseBound = (text: string, zone: string): string | undefined => {
  const time = parseTime(text)
  // Years before 1000 are no dates of a log, and not every calendar counts them.
  if (time === undefined || text.startsWith('0')) return undefined
  return text.length === DATE_LENGTH ? startOfDay(text, zone) : time
}

const DATE_LENGTH = '2026-11-23'.length
