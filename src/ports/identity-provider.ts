import type { TelegramIdentity } from '../../schemas/identity.ts'

/** Proves identities by sending a browser to another site and back. */
export interface IdentityProvider {
  /** Begins an attempt of one browser, which keeps its secrets. Rejects with Unavailable. */
  begin(returnUrl: string): Promise<{ url: string; attempt: ProofAttempt }>
  /**
   * The identity of the person who came back with this URL. Rejects with IdentityNotProved, or with Unavailable. Each
   * attempt is finished at most once.
   */
  finish(returnedTo: URL, attempt: ProofAttempt): Promise<TelegramIdentity>
}

/** The random secrets of an attempt. */
export interface ProofAttempt {
  state: string
  nonce: string
  verifier: string
}

/** The answer is forged, expired, of another attempt, or says no. The message is for the operator. */
export class IdentityNotProved extends Error {
  override name = 'IdentityNotProved'
}
