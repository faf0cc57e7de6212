import { parseTime } from '../as-of.ts'
import { type Closing, closingOf, monthBefore, monthOf, startOf } from '../closings.ts'
import { startOfDay } from './zone.ts'

/** The start or the end of a period among the events of a log. */
export interface Bound {
  at: string
  /** Events with a greater number came after the previous month was closed, even if their time is in that month. */
  events: number
}

export interface Bounds {
  from: Bound
  to: Bound
  /** The closing of the last month, if the period consists of closed months. */
  closed?: Closing
  /** Whether the start or the end lies within a closed month. Then only the times of events count. */
  isCut: boolean
}

/**
 * If the period consists of whole months in UTC, closings decide which events belong to it. Otherwise their times
 * decide.
 */
export const boundsOf = ({ from, to }: Pick<Period, 'from' | 'to'>, closings: readonly Closing[]): Bounds => {
  const isCut = [from, to].some(at => !isMonthStart(at) && closingOf(closings, monthOf(at)))
  if (isCut) return { from: { at: from, events: ALL }, to: { at: to, events: ALL }, isCut }
  const bounds = { from: boundAt(from, closings), to: boundAt(to, closings), isCut }
  const closed = closingBefore(to, closings)
  return closed ? { ...bounds, closed } : bounds
}

/** Whether an event comes before a bound, by time and by number in the log. */
export const isBefore = ({ at, events }: Bound, time: string, number: number): boolean => time < at && number <= events

const ALL = Number.POSITIVE_INFINITY

const boundAt = (at: string, closings: readonly Closing[]): Bound => ({
  at,
  events: closingBefore(at, closings)?.seal.events ?? ALL,
})

/** The closing of the month that ends at a time. */
const closingBefore = (at: string, closings: readonly Closing[]): Closing | undefined =>
  isMonthStart(at) ? closingOf(closings, monthBefore(monthOf(at))) : undefined

const isMonthStart = (at: string): boolean => startOf(monthOf(at)) === at

/** The period of a statement. */
export interface Period {
  /** A time of the log, inclusive. */
  from: string
  /** A time of the log, exclusive. */
  to: string
  /** The zone of its days and times. */
  zone: string
}

/**
 * Parses a bound of a period: a date, which means its first moment in the zone, or a time with an offset. Returns
 * undefined for any other text.
 */
export const parseBound = (text: string, zone: string): string | undefined => {
  const time = parseTime(text)
  // A log has no years before 1000, and calendars disagree about them.
  if (time === undefined || text.startsWith('0')) return undefined
  return text.length === DATE_LENGTH ? startOfDay(text, zone) : time
}

const DATE_LENGTH = '2026-11-23'.length
