import { SIGNS } from '../../verify/account.ts'
import type { ReadEvent } from './event.ts'
import { hold } from './wrong.ts'

/** What an event did to the credits of its account, as the event says. */
export interface Move {
  revision: number
  type: string
  amountMicros: number
  afterMicros: number
  /** In debits and refunds. */
  runId?: string
  /** In debits, and in refunds that repeat their debit. */
  model?: string
}

/** The move of a proven event; undefined if it moved no credits. Throws Wrong if it does not tell it. */
export const moveOf = ({ type, data }: ReadEvent, revision: number): Move | undefined => {
  if (!Object.hasOwn(SIGNS, type)) return undefined
  const { amountMicros, balanceAfterMicros, runId, receipt, debit = receipt } = data
  const { model } = (debit ?? {}) as { model?: unknown }
  const isTold = isAmount(amountMicros) && isAmount(balanceAfterMicros) && isRun(runId) && isModel(model)
  hold(isTold, `event ${revision} is not in the documented form`)
  const named = { ...(runId !== undefined && { runId }), ...(model !== undefined && { model }) }
  return { revision, type, amountMicros, afterMicros: balanceAfterMicros, ...named }
}

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

// The owner of the log may have put anything there, and it is shown on a terminal.
const isRun = (value: unknown): value is string | undefined => isAbsentOr(/^run_[0-9a-z]{26}$/, value)
const isModel = (value: unknown): value is string | undefined => isAbsentOr(/^[a-z0-9-]{1,64}$/, value)

const isAbsentOr = (pattern: RegExp, value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && pattern.test(value))
