import { SIGNS } from '../../moves-credits.ts'
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

/** The move of a proven event; undefined if it moved no credits. Throws Wrong if it does not tell it. */
export const moveOf = ({ type, data }: ReadEvent, revision: number): Move | undefined => {
  if (!Object.hasOwn(SIGNS, type)) return undefined
  const { amountMicros, balanceAfterMicros, runId } = data
  const isTold = isAmount(amountMicros) && isAmount(balanceAfterMicros) && (runId === undefined || isRun(runId))
  hold(isTold, `event ${revision} is not in the documented form`)
  return { type, amountMicros, afterMicros: balanceAfterMicros, ...(runId !== undefined && { runId }) }
}

export const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** The owner of the log may have put anything there, and it is shown on a terminal. */
const isRun = (value: unknown): value is string => typeof value === 'string' && /^run_[0-9a-z]{26}$/.test(value)
