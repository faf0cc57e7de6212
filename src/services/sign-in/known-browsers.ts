import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Clock } from '../../ports/clock.ts'
import { deriveKey } from '../derive-key.ts'
import { isAccountId } from '../ids.ts'

/** How long a browser is known after it has signed in, also without a session. */
export const KNOWN_MS = 180 * 24 * 60 * 60 * 1000

/** Longer than any token. */
const MAX_LENGTH = 200

/**
 * Makes and reads the tokens by which browsers are known that have signed in to an account. They give no access, only
 * room that strangers cannot use up.
 */
export class KnownBrowsers {
  readonly #key: Buffer
  readonly #clock: Clock

  constructor(masterSecret: string, clock: Clock) {
    this.#key = deriveKey(masterSecret, 'known-browsers')
    this.#clock = clock
  }

  make(accountId: AccountId): string {
    const expiresMs = String(this.#clock.nowMs() + KNOWN_MS)
    return `${accountId}.${expiresMs}.${this.#macOf(accountId, expiresMs).toString('base64url')}`
  }

  /** The account that the browser has signed in to; undefined if the token was not made here, or has expired. */
  accountOf(token = ''): AccountId | undefined {
    if (token.length > MAX_LENGTH) return undefined
    const [accountId = '', expiresMs = '', given = ''] = token.split('.')
    if (!isAccountId(accountId) || !(Number(expiresMs) > this.#clock.nowMs())) return undefined
    const mac = Buffer.from(given, 'base64url')
    const expected = this.#macOf(accountId, expiresMs)
    return mac.length === expected.length && timingSafeEqual(mac, expected) ? accountId : undefined
  }

  #macOf(accountId: string, expiresMs: string): Buffer {
    return createHmac('sha256', this.#key).update(`${accountId}.${expiresMs}`).digest()
  }
}
