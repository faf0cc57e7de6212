import type { ClosingSeal, PeriodEvent } from '../../../schemas/period-events.ts'
import { accept, type Decider, unreachable } from '../decider.ts'
import { type Refusal, refuse } from '../refusal.ts'

export type PeriodCommand =
  | { type: 'RequestClose'; period: string }
  | { type: 'Close'; period: string; seal: ClosingSeal }

/** A closed period, with which all earlier open periods were closed too. */
export interface Closing {
  period: string
  seal: ClosingSeal
  at: string
}

export interface PeriodsState {
  /** In the order of their periods. */
  closings: readonly Closing[]
  /** The newest request to close a period, with the revision of its event. */
  request: { period: string; revision: number } | undefined
}

/** Which months are closed. A month is never opened again, and no month before a closed one is open. */
export const periods: Decider<PeriodCommand, PeriodsState, PeriodEvent, Refusal> = {
  initial: { closings: [], request: undefined },
  decide: (command, state, atMs) => {
    const { period } = command
    const closed = refuseClosed(period, state)
    if (closed) return closed
    switch (command.type) {
      case 'RequestClose':
        if (atMs < endMsOf(period)) return refuse('period_not_over', { period, now: new Date(atMs).toISOString() })
        return accept([{ type: 'PeriodCloseRequested', data: { period } }])
      case 'Close':
        // Another process may have closed an earlier month meanwhile, with a later seal.
        if (command.seal.events < (state.closings.at(-1)?.seal.events ?? 0)) return refuse('period_seal_outdated')
        return accept([{ type: 'PeriodClosed', data: { period, seal: command.seal } }])
      default:
        return unreachable(command)
    }
  },
  evolve: (state, { type, data, revision, metadata: { at } }) =>
    type === 'PeriodClosed'
      ? { ...state, closings: [...state.closings, { ...data, at }] }
      : { ...state, request: { period: data.period, revision } },
}

/** The refusal to close a month again; undefined if the month is open. */
export const refuseClosed = (period: string, { closings }: PeriodsState): { refuse: Refusal } | undefined => {
  const closing = closings.find(closing => closing.period >= period)
  return closing && refuse('period_closed', { period, closedWith: closing.period, seal: closing.seal.number })
}

/** The first moment after a month in UTC such as `2026-11`, in milliseconds since 1970. */
export const endMsOf = (period: string): number => {
  const end = new Date(`${period}-01T00:00:00.000Z`)
  return end.setUTCMonth(end.getUTCMonth() + 1)
}

/** The month after a month. */
export const nextPeriod = (period: string): string => periodOf(new Date(endMsOf(period)).toISOString())

/** The month of a time of the log. */
export const periodOf = (at: string): string => at.slice(0, 'YYYY-MM'.length)
