import { MAX_GRANT_MICROS } from '../../schemas/primitives.ts'
import { fromMicros, toMicros } from '../domain/money.ts'
import { OperatorError } from './operator-error.ts'

/** Parses an amount of credits into microcredits. Throws OperatorError if it is not a valid amount. */
export const parseCredits = (text: string, { least }: { least: number }): number => {
  const credits = /^\d+(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  // A larger number may have no exact amount of microcredits.
  const micros = credits <= fromMicros(MAX_GRANT_MICROS) ? toMicros(credits) : Number.NaN
  if (!(micros >= least))
    throw new OperatorError(
      [
        `${JSON.stringify(text)} must be a number of credits from ${fromMicros(least)} to`,
        `${fromMicros(MAX_GRANT_MICROS)}, with at most six decimals.`,
      ].join(' '),
    )
  return micros
}
