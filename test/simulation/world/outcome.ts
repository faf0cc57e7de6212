import type { Answer } from '../../../src/services/answer.ts'

/** The outcome of a command: 'ok', or the code of a refusal. */
export const outcomeOf = (told: Answer<unknown>): string => ('refuse' in told ? told.refuse.code : 'ok')

/** Instead of an outcome, where a client has nothing to send a command about. */
export const NOTHING = 'nothing to do'

/** Instead of an outcome, where a process does not know the key that a client uses. */
export const NO_KEY = 'no key'
