import { sessionRefusal } from '../../domain/account/sessions.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import type { SessionOwner } from '../caller.ts'
import type { SessionTokens } from './session-tokens.ts'

interface Parts {
  accounts: AccountMailboxes
  tokens: SessionTokens
  clock: Clock
}

/** Finds the owner of a session. No view is involved: the token names the account, whose own state decides. */
export class SessionHolders {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Undefined for a token that was not made here, or whose session has ended. A session that another process closed
   * works for at most a second. Rejects with Unavailable if that cannot be decided.
   */
  async ownerOf(token: string): Promise<SessionOwner | undefined> {
    const { accounts, tokens, clock } = this.#parts
    const session = tokens.read(token)
    if (!session) return undefined
    const { accountId, sessionId } = session
    const used = { sessionId, atMs: clock.nowMs() }
    const isOpen =
      !sessionRefusal(used, await accounts.recentState(accountId)) ||
      // Another process may have opened it in the last second.
      !sessionRefusal(used, await accounts.currentState(accountId))
    return isOpen ? { kind: 'session', ...session } : undefined
  }
}
