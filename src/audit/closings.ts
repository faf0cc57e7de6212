import { PERIODS_STREAM } from '../../schemas/events.ts'
import type { ClosingSeal } from '../../schemas/period-events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { ReadableLog } from '../ports/event-log.ts'
import { Damaged } from '../ports/faults.ts'
import { eventCodec } from '../services/event-codec.ts'
import { faultOf } from './fault.ts'
import { Chain } from './verify/chain.ts'

/** A closed month. Closing a month also closes all open months before it. */
export interface Closing {
  month: string
  seal: ClosingSeal
  closedAt: string
  /** The operator who closed the month. */
  closedBy: string
}

/**
 * The closed months of a log, in order, or the fault of their stream. Does not look up the seals that the closings
 * name.
 */
export const readClosings = async (log: Pick<ReadableLog, 'readStream'>): Promise<Closing[] | { fault: string }> => {
  const chain = new Chain()
  const closings: Closing[] = []
  for await (const page of log.readStream(PERIODS_STREAM, 0))
    for (const raw of page) {
      const fault = faultOf(raw, () => take(raw, chain, closings))
      if (fault !== undefined) return { fault }
    }
  return closings
}

/** Throws Damaged for an event that the service cannot have written. */
const take = (raw: RawEvent, chain: Chain, closings: Closing[]) => {
  chain.take(raw, (what, isNote) => {
    if (!isNote) throw new Damaged(what)
  })
  const { type, data, metadata } = eventCodec.decode(raw)
  if (type !== 'PeriodClosed') return
  const { period, seal } = data
  const last = closings.at(-1)
  if (last && (period <= last.month || seal.events < last.seal.events))
    throw new Damaged(`${period} does not follow ${last.month}, which is already closed`)
  const { name = '' } = metadata.actor as { name?: string }
  closings.push({ month: period, seal, closedAt: metadata.at, closedBy: name })
}

/** The closing of a month; undefined if the month is open. */
export const closingOf = (closings: readonly Closing[], month: string): Closing | undefined =>
  closings.find(closing => closing.month >= month)

/**
 * The month to which an event belongs: the month of its time, or the first later month that was not closed before the
 * event. `number` counts the events of the log from 1, without the stream of seals.
 */
export const bookingMonth = (closings: readonly Closing[], at: string, number: number): string => {
  const month = monthOf(at)
  const missed = closings.findLast(({ seal }) => seal.events < number)
  return missed && missed.month >= month ? monthAfter(missed.month) : month
}

// Shares no code with the decisions that close months, so only the same mistake in both would go unnoticed.

/** The first moment of a month such as `2026-11` in UTC, as a time of the log. */
export const startOf = (month: string): string => `${month}-01T00:00:00.000Z`

export const monthAfter = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [nextYear, next] = number === 12 ? [year + 1, 1] : [year, number + 1]
  return `${String(nextYear).padStart(4, '0')}-${String(next).padStart(2, '0')}`
}

export const monthBefore = (month: string): string => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [lastYear, last] = number === 1 ? [year - 1, 12] : [year, number - 1]
  return `${String(lastYear).padStart(4, '0')}-${String(last).padStart(2, '0')}`
}

/** The month of a time of the log. */
export const monthOf = (at: string): string => at.slice(0, 'YYYY-MM'.length)
