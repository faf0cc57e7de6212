import { MAX_GRANT_MICROS } from '../../schemas/primitives.ts'
import { fromMicros, toMicros } from '../domain/money.ts'
import { OperatorError } from '../services/operator-error.ts'

/** Credits as typed by a person, in microcredits. Throws OperatorError where that is no amount that can be given. */
export const parseCredits = (text: string, { least }: { least: number }): number => {
  const micros = /^\d+(\.\d{1,6})?$/.test(text) ? toMicros(Number(text)) : Number.NaN
  if (!(micros >= least && micros <= MAX_GRANT_MICROS))
    throw new OperatorError(
      `${JSON.stringify(text)} must be a number of credits, with at most six decimals, from ${fromMicros(least)} to ${fromMicros(MAX_GRANT_MICROS)}.`,
    )
  return micros
}
