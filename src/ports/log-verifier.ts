import type { Verification } from '../../schemas/api/audit.ts'
import type { AccountId } from '../../schemas/primitives.ts'

/** Verifies the log beside the process, which serves others meanwhile. */
export interface LogVerifier {
  /**
   * Checks the whole log, or one account, up to its present head. Rejects with Unavailable if that cannot be done, or
   * takes too much time or memory. Once the signal aborts, the work ends, and then it rejects with the signal's reason.
   */
  verify(account: AccountId | undefined, signal: AbortSignal): Promise<Verification>
  /** Ends all work. */
  close(): Promise<void>
}

/** The input of the program that verifies the log: the setting of the log, and what to check. */
export interface VerifierOrder {
  eventStore: unknown
  account: string | undefined
}

/** What that program answers. */
export type VerifierReport = { verification: Verification } | { failure: string }
