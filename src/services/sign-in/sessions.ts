import type { AccountId } from '../../../schemas/primitives.ts'
import { sessionRefusal, suspensionRefusal } from '../../domain/account/access.ts'
import type { AccountState } from '../../domain/account/state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller, SessionOwner } from '../caller.ts'
import { newSessionId } from '../ids.ts'
import type { KnownBrowsers, SessionTokens } from './browser-tokens.ts'

/** Closes the sessions of the account's owner. */
export class Sessions {
  readonly #accounts: AccountMailboxes

  readonly permissions = { close: 'session', closeAll: 'session' } as const

  constructor(accounts: AccountMailboxes) {
    this.#accounts = accounts
  }

  /** Closes the caller's own session. */
  async close(caller: SessionOwner): Promise<Answer<undefined>> {
    const { accountId, sessionId } = caller
    const closed = await this.#accounts.execute(caller, accountId, { type: 'CloseSession', sessionId })
    return 'refuse' in closed ? closed : answer(undefined)
  }

  /** Closes all sessions of the account, in every process. */
  async closeAll(caller: SessionOwner): Promise<Answer<undefined>> {
    const closed = await this.#accounts.execute(caller, caller.accountId, { type: 'CloseAllSessions' })
    return 'refuse' in closed ? closed : answer(undefined)
  }
}

interface Dependencies {
  accounts: AccountMailboxes
  tokens: SessionTokens
  clock: Clock
}

/** Finds the owner of a session. The token names the account, whose own state decides. No view is involved. */
export class SessionHolders {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Undefined if the token is invalid or the session has ended. Refuses the owner of a suspended account. After another
   * process closes the session or suspends the account, the session works for at most a second. Rejects with
   * Unavailable if the account cannot be read.
   */
  async ownerOf(token: string): Promise<Answer<SessionOwner> | undefined> {
    const found = await this.#open(token)
    if (!found) return undefined
    const suspended = suspensionRefusal(found.state)
    return suspended ? { refuse: suspended } : answer(found.owner)
  }

  /** The owner of an open session. The owner of a suspended account may also sign out. */
  async ownerToSignOut(token: string): Promise<SessionOwner | undefined> {
    return (await this.#open(token))?.owner
  }

  async #open(token: string): Promise<{ owner: SessionOwner; state: AccountState } | undefined> {
    const { accounts, tokens, clock } = this.#dependencies
    const session = tokens.read(token)
    if (!session) return undefined
    const { accountId, sessionId } = session
    const isOpenIn = (state: AccountState) => !sessionRefusal(sessionId, state, clock.nowMs())
    const recent = await accounts.recentState(accountId)
    // Another process may have opened the session in the last second.
    const state = isOpenIn(recent) ? recent : await accounts.currentState(accountId)
    return isOpenIn(state) ? { owner: { kind: 'session', ...session }, state } : undefined
  }
}

export const SESSION_MS = 30 * 24 * 60 * 60 * 1000

export interface SessionDependencies {
  accounts: AccountMailboxes
  tokens: SessionTokens
  browsers: KnownBrowsers
  clock: Clock
  random: Random
}

/** A newly opened session. */
export interface OpenedSession {
  accountId: AccountId
  token: string
  /** The token by which the browser is known, even after the session. */
  browser: string
}

/**
 * Opens a session with a new ID, so that it cannot be known in advance. Closes the browser's earlier session, even if
 * it belonged to another account.
 */
export const openSession = async (
  { accounts, tokens, browsers, clock, random }: SessionDependencies,
  caller: Caller,
  accountId: AccountId,
  earlierToken: string | undefined,
): Promise<Answer<OpenedSession>> => {
  const earlier = earlierToken === undefined ? undefined : tokens.read(earlierToken)
  const sessionId = newSessionId(random)
  const expiresAt = new Date(clock.nowMs() + SESSION_MS).toISOString()
  const replaces = earlier?.accountId === accountId ? earlier.sessionId : undefined
  const opened = await accounts.execute(caller, accountId, { type: 'OpenSession', sessionId, expiresAt, replaces })
  if ('refuse' in opened) return opened
  if (earlier && earlier.accountId !== accountId)
    await accounts.execute(caller, earlier.accountId, { type: 'CloseSession', sessionId: earlier.sessionId })
  return answer({ accountId, token: tokens.make({ accountId, sessionId }), browser: browsers.make(accountId) })
}
