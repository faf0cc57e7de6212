import type { SessionOwner } from '../caller.ts'
import { isAccountId, isSessionId } from '../ids.ts'
import { SignedTokens } from './signed-tokens.ts'

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

  /** Undefined for a token that was not made here. Whether the session is open, only the account knows. */
  read(token: string): Session | undefined {
    const [accountId = '', sessionId = ''] = this.#tokens.read(token) ?? []
    return isAccountId(accountId) && isSessionId(sessionId) ? { accountId, sessionId } : undefined
  }
}
