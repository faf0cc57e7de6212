import type { TelegramIdentity } from '../../schemas/identity.ts'

/** Proves identities by sending a browser to another site and back. */
export interface IdentityProvider {
  /** Begins an attempt for one browser, which keeps the attempt's secrets. Rejects with Unavailable. */
  begin(returnUrl: string): Promise<{ url: string; attempt: ProofAttempt }>
  /**
   * The identity of the person who returned with this URL. Rejects with IdentityNotProved or Unavailable. Each attempt
   * is finished at most once.
   */
  finish(returnedTo: URL, attempt: ProofAttempt): Promise<TelegramIdentity>
}

/** The random secrets of an attempt. */
export interface ProofAttempt {
  state: string
  nonce: string
  verifier: string
}

/** The response is forged, expired, a refusal, or belongs to another attempt. The message is for the operator. */
export class IdentityNotProved extends Error {
  override name = 'IdentityNotProved'
}
