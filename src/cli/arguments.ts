import { MAX_GRANT_MICROS, MAX_NAME_LENGTH, MAX_REASON_LENGTH, MAX_REFERENCE_LENGTH } from '../../schemas/primitives.ts'
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

/** Throws OperatorError for a name that no key can have. */
export const checkKeyName = (name: string) => checkText('name of a key', name, MAX_NAME_LENGTH)

/** Throws OperatorError for a reason that no grant can have. */
export const checkReason = (reason: string) => checkText('reason', reason, MAX_REASON_LENGTH)

/** Throws OperatorError for a reference that no grant can have. */
export const checkReference = (reference: string) => checkText('reference', reference, MAX_REFERENCE_LENGTH)

const checkText = (what: string, text: string, limit: number) => {
  if (text.length > limit || !PRINTABLE.test(text))
    throw new OperatorError(`The ${what} must have 1 to ${limit} printable characters.`)
}

/** As in the name of an actor: other characters could hide or break a line of a report, or control a terminal. */
const PRINTABLE = /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]+$/u
