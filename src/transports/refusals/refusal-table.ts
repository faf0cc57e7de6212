import type { ErrorCode } from '../../../schemas/api/error.ts'
import type { ErrorDetails } from '../api-error.ts'

/** The answer of the API to a refusal. */
export interface RefusalEntry<Facts> {
  /** The code of the API, which determines the HTTP status (`schemas/api/error.ts`). */
  api: ErrorCode
  message: (facts: Facts) => string
  details?: (facts: Facts) => ErrorDetails
}

/**
 * An entry for every refusal, by its code. A missing code does not compile, and neither does a code that the domain
 * lacks.
 */
export type RefusalTable<Facts> = { [Code in keyof Facts]: RefusalEntry<Facts[Code]> }
