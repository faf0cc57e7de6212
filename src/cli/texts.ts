import { MAX_NAME_LENGTH, MAX_REASON_LENGTH, MAX_REFERENCE_LENGTH } from '../../schemas/primitives.ts'
import { OperatorError } from './operator-error.ts'

/** Throws OperatorError for a name that no key can have. */
export const checkKeyName = (name: string) => checkLength('name of a key', name, MAX_NAME_LENGTH)

/** Throws OperatorError for a reason that no grant can have. */
export const checkReason = (reason: string) => checkLength('reason', reason, MAX_REASON_LENGTH)

/** Throws OperatorError for a reference that no grant can have. */
export const checkReference = (reference: string) => checkLength('reference', reference, MAX_REFERENCE_LENGTH)

const checkLength = (what: string, text: string, limit: number) => {
  if (text.length < 1 || text.length > limit) throw new OperatorError(`The ${what} must have 1 to ${limit} characters.`)
}
