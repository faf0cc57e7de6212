import type { AccountId } from '../../../schemas/primitives.ts'
import type { Clock } from '../../ports/clock.ts'
import { isAccountId } from '../ids.ts'
import { SignedTokens } from './signed-tokens.ts'

/** How long a browser is known after it has signed in, also without a session. */
export const KNOWN_MS = 180 * 24 * 60 * 60 * 1000

/**
 * Makes and reads the tokens by which browsers are known that have signed in to an account. They give no access, only
 * room that strangers cannot use up.
 */
export class KnownBrowsers {
  readonly #tokens: SignedTokens
  readonly #clock: Clock

  constructor(masterSecret: string, clock: Clock) {
    this.#tokens = new SignedTokens(masterSecret, 'known-browsers')
    this.#clock = clock
  }

  make(accountId: AccountId): string {
    return this.#tokens.make(accountId, String(this.#clock.nowMs() + KNOWN_MS))
  }

  /** The account that the browser has signed in to; undefined if the token was not made here, or has expired. */
  accountOf(token = ''): AccountId | undefined {
    const [accountId = '', expiresMs = ''] = this.#tokens.read(token) ?? []
    return isAccountId(accountId) && Number(expiresMs) > this.#clock.nowMs() ? accountId : undefined
  }
}
