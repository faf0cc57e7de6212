import { SIGNS } from '../moves-credits.ts'
import type { ReadEvent } from './event.ts'
import { hold } from './wrong.ts'

/** What an event did to the credits of its account, as the event says. */
export interface Move {
  type: string
  amountMicros: number
  afterMicros: number
  /** In debits and refunds. */
  runId?: string
}

/** The move of a proven event; undefined if it moved no credits. Throws Wrong if it does not tell its amounts. */
export const moveOf = ({ type, data }: ReadEvent, revision: number): Move | undefined => {
  if (!Object.hasOwn(SIGNS, type)) return undefined
  const { amountMicros, balanceAfterMicros, runId } = data
  const isTold = isAmount(amountMicros) && isAmount(balanceAfterMicros)
  hold(isTold, `event ${revision} is not in the documented form`)
  const run = typeof runId === 'string' && RUN.test(runId) ? { runId } : {}
  return { type, amountMicros, afterMicros: balanceAfterMicros, ...run }
}

export const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Whoever owns the log may have put anything there, and it is shown on a terminal. */
const RUN = /^run_[0-9a-z]{26}$/
