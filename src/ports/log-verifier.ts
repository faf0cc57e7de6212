import type { Verification } from '../../schemas/api/audit.ts'
import type { AccountId } from '../../schemas/primitives.ts'

/** Verifies the log without blocking the process. */
export interface LogVerifier {
  /**
   * Verifies the whole log, or one account, up to the current head. Rejects with Unavailable if the verification fails,
   * or takes too much time or memory. If the signal aborts, stops the work, and then rejects with the signal's reason.
   */
  verify(account: AccountId | undefined, signal: AbortSignal): Promise<Verification>
  /** Ends all work. */
  close(): Promise<void>
}

/** The input of the verification program: the setting of the log, and the account to verify. */
export interface VerifierOrder {
  eventStore: unknown
  account: string | undefined
}

/** The output of the verification program. */
export type VerifierReport = { verification: Verification } | { failure: string }
