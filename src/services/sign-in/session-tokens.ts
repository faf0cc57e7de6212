import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SessionOwner } from '../caller.ts'
import { deriveKey } from '../derive-key.ts'
import { isAccountId, isSessionId } from '../ids.ts'

/** Longer than any token. */
const MAX_LENGTH = 200

export type Session = Pick<SessionOwner, 'accountId' | 'sessionId'>

/** Makes and reads the tokens in cookies: account, session and a MAC, so that nobody else can make one. */
export class SessionTokens {
  readonly #key: Buffer

  constructor(masterSecret: string) {
    this.#key = deriveKey(masterSecret, 'sessions')
  }

  make({ accountId, sessionId }: Session): string {
    return `${accountId}.${sessionId}.${this.#macOf(accountId, sessionId).toString('base64url')}`
  }

  /** Undefined for a token that was not made here. Whether the session is open, only the account knows. */
  read(token: string): Session | undefined {
    if (token.length > MAX_LENGTH) return undefined
    const [accountId = '', sessionId = '', given = ''] = token.split('.')
    if (!isAccountId(accountId) || !isSessionId(sessionId)) return undefined
    const mac = Buffer.from(given, 'base64url')
    const expected = this.#macOf(accountId, sessionId)
    return mac.length === expected.length && timingSafeEqual(mac, expected) ? { accountId, sessionId } : undefined
  }

  #macOf(accountId: string, sessionId: string): Buffer {
    return createHmac('sha256', this.#key).update(`${accountId}.${sessionId}`).digest()
  }
}
