import { sessionRefusal } from '../../domain/account/sessions.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { suspensionRefusal } from '../../domain/account/suspension.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { SessionOwner } from '../caller.ts'
import type { SessionTokens } from './session-tokens.ts'

interface Dependencies {
  accounts: AccountMailboxes
  tokens: SessionTokens
  clock: Clock
}

/** Finds the owner of a session. No view is involved: the token names the account, whose own state decides. */
export class SessionHolders {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Undefined for a token that was not made here, or whose session has ended. Refuses the owner of a suspended account.
   * A session that another process closed, or whose account it suspended, works for at most a second. Rejects with
   * Unavailable if that cannot be decided.
   */
  async ownerOf(token: string): Promise<Answer<SessionOwner> | undefined> {
    const found = await this.#open(token)
    if (!found) return undefined
    const suspended = suspensionRefusal(found.state)
    return suspended ? { refuse: suspended } : answer(found.owner)
  }

  /** The owner of an open session, also of a suspended account: anybody may sign out. */
  async ownerToSignOut(token: string): Promise<SessionOwner | undefined> {
    return (await this.#open(token))?.owner
  }

  async #open(token: string): Promise<{ owner: SessionOwner; state: AccountState } | undefined> {
    const { accounts, tokens, clock } = this.#dependencies
    const session = tokens.read(token)
    if (!session) return undefined
    const { accountId, sessionId } = session
    const isOpenIn = (state: AccountState) => !sessionRefusal({ sessionId, atMs: clock.nowMs() }, state)
    const recent = await accounts.recentState(accountId)
    // Another process may have opened it in the last second.
    const state = isOpenIn(recent) ? recent : await accounts.currentState(accountId)
    return isOpenIn(state) ? { owner: { kind: 'session', ...session }, state } : undefined
  }
}
