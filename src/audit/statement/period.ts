import { parseTime } from '../as-of.ts'
import { type Closing, closingOf, monthBefore, monthOf, startOf } from '../closings.ts'
import { startOfDay } from './zone.ts'

/** Where a period begins or ends among the events of a log. */
export interface Bound {
  at: string
  /** Events with a greater number came after the month before the bound was closed, whatever their time. */
  events: number
}

export interface Bounds {
  from: Bound
  to: Bound
  /** The closing of the last month, if the period is one of whole closed months. */
  closed?: Closing
  /** Whether a bound lies within a closed month, so that times alone decide. */
  isCut: boolean
}

/** Months in UTC have the events that belong to them by the closings. Other periods have those of their times. */
export const boundsOf = ({ from, to }: Pick<Period, 'from' | 'to'>, closings: readonly Closing[]): Bounds => {
  const isCut = [from, to].some(at => !isMonthStart(at) && closingOf(closings, monthOf(at)))
  if (isCut) return { from: { at: from, events: ALL }, to: { at: to, events: ALL }, isCut }
  const bounds = { from: boundAt(from, closings), to: boundAt(to, closings), isCut }
  const closed = closingBefore(to, closings)
  return closed ? { ...bounds, closed } : bounds
}

/** Whether an event comes before a bound, by its time and by its number in the log. */
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
