import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SessionOwner } from '../caller.ts'
import { deriveKey } from '../derive-key.ts'
import { isAccountId, isSessionId } from '../ids.ts'

const MAX_LENGTH = 200

/** Makes and reads tokens for cookies: two texts without dots, and a MAC, so that only this service can make them. */
class SignedTokens {
  readonly #key: Buffer

  /** A token of one purpose is invalid for any other. */
  constructor(masterSecret: string, purpose: string) {
    this.#key = deriveKey(masterSecret, purpose)
  }

  make(first: string, second: string): string {
    return `${first}.${second}.${this.#macOf(first, second).toString('base64url')}`
  }

  /** The two texts; undefined for an invalid token. */
  read(token: string): [first: string, second: string] | undefined {
    if (token.length > MAX_LENGTH) return undefined
    const [first = '', second = '', given = ''] = token.split('.')
    const mac = Buffer.from(given, 'base64url')
    const expected = this.#macOf(first, second)
    return mac.length === expected.length && timingSafeEqual(mac, expected) ? [first, second] : undefined
  }

  #macOf(first: string, second: string): Buffer {
    return createHmac('sha256', this.#key).update(`${first}.${second}`).digest()
  }
}

export type Session = Pick<SessionOwner, 'accountId' | 'sessionId'>

/** Makes and reads the tokens of sessions. */
export class SessionTokens {
  readonly #tokens: SignedTokens

  constructor(masterSecret: string) {
    this.#tokens = new SignedTokens(masterSecret, 'sessions')
  }

  make({ accountId, sessionId }: Session): string {
    return this.#tokens.make(accountId, sessionId)
  }

  /** Undefined for an invalid token. The account decides whether the session is open. */
  read(token: string): Session | undefined {
    const [accountId = '', sessionId = ''] = this.#tokens.read(token) ?? []
    return isAccountId(accountId) && isSessionId(sessionId) ? { accountId, sessionId } : undefined
  }
}

/** How long a browser stays known after it has signed in. */
export const KNOWN_MS = 180 * 24 * 60 * 60 * 1000

/**
 * Makes and reads tokens of browsers that have signed in to an account. A token gives no access, but has limits of its
 * own, which strangers cannot use up.
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

  /** The account to which the browser has signed in; undefined if the token is invalid or has expired. */
  accountOf(token = ''): AccountId | undefined {
    const [accountId = '', expiresMs = ''] = this.#tokens.read(token) ?? []
    return isAccountId(accountId) && Number(expiresMs) > this.#clock.nowMs() ? accountId : undefined
  }
}
