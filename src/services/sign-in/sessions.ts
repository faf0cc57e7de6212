import type { AccountId, SessionId } from '../../../schemas/primitives.ts'
import { freshRefusal, sessionRefusal, suspensionRefusal } from '../../domain/account/access.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import type { AccountState } from '../../domain/account/state.ts'
import type { Brand } from '../../domain/brand.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller, OperatorInAccount, SessionOwner } from '../caller.ts'
import { isSessionId, newSessionId } from '../ids.ts'
import type { KnownBrowsers, SessionTokens } from './browser-tokens.ts'
import { sessionsEndedMessage } from './code-messages.ts'
import type { MailQueue } from './mail-queue.ts'
import type { Client } from './one-time-codes.ts'
import { tellOthers } from './other-addresses.ts'
import type { SessionPlace, SessionPlaces } from './session-places.ts'

/** A session that is open. Times are ISO 8601. */
export interface SessionInfo extends SessionPlace {
  sessionId: SessionId
  openedAt: string
  expiresAt: string
  /** Whether it is the caller's own. */
  isOwn: boolean
}

interface SessionsDependencies extends Pick<SessionDependencies, 'accounts' | 'places' | 'clock'> {
  mail: Pick<MailQueue, 'add'>
  brand: Brand
  publicUrl: () => string
}

/** Lists and closes the sessions of the account's owner. */
export class Sessions {
  readonly #dependencies: SessionsDependencies

  readonly permissions = {
    list: 'session',
    ofAccount: 'operate',
    checkFresh: 'session',
    close: 'session',
    closeOther: 'session',
    closeOthers: 'session',
    closeAll: 'session',
  } as const

  constructor(dependencies: SessionsDependencies) {
    this.#dependencies = dependencies
  }

  /** The open sessions of the account, the newest first. */
  list({ accountId, sessionId }: SessionOwner): Promise<Answer<SessionInfo[]>> {
    return this.#openIn(accountId, sessionId)
  }

  async #openIn(accountId: AccountId, ownId?: SessionId): Promise<Answer<SessionInfo[]>> {
    const { accounts, places, clock } = this.#dependencies
    const { sessions } = await accounts.recentState(accountId)
    const open = [...sessions].filter(([, { expiresAtMs }]) => expiresAtMs > clock.nowMs()).reverse()
    return answer(
      open.map(([id, { openedAtMs, expiresAtMs, place }]) => ({
        ...{ sessionId: id, isOwn: id === ownId, ...places.open(place) },
        ...{ openedAt: new Date(openedAtMs).toISOString(), expiresAt: new Date(expiresAtMs).toISOString() },
      })),
    )
  }

  /** The same for an operator who looks at an account. */
  ofAccount({ accountId }: OperatorInAccount): Promise<Answer<SessionInfo[]>> {
    return this.#openIn(accountId)
  }

  /** Refuses a caller that has entered no code in the last hour. */
  async checkFresh({ accountId, sessionId }: SessionOwner): Promise<Answer<undefined>> {
    const { accounts, clock } = this.#dependencies
    return freshRefusal(sessionId, await accounts.currentState(accountId), clock.nowMs()) ?? answer(undefined)
  }

  /** Closes the caller's own session. */
  close(caller: SessionOwner): Promise<Answer<undefined>> {
    return this.#execute(caller, { type: 'CloseSession', sessionId: caller.sessionId })
  }

  /**
   * Closes another session of the account. This needs a fresh code, as the next two do, and all of them tell the other
   * addresses of the account.
   */
  closeOther(caller: SessionOwner, id: string): Promise<Answer<undefined>> {
    return isSessionId(id)
      ? this.#execute(caller, { type: 'CloseSession', sessionId: id })
      : Promise.resolve(refuse('session_ended'))
  }

  /** Closes all sessions of the account but the caller's. */
  closeOthers(caller: SessionOwner): Promise<Answer<undefined>> {
    return this.#execute(caller, { type: 'CloseAllSessions', exceptOwn: true })
  }

  /** Closes all sessions of the account, in every process. */
  closeAll(caller: SessionOwner): Promise<Answer<undefined>> {
    return this.#execute(caller, { type: 'CloseAllSessions' })
  }

  async #execute(caller: SessionOwner, command: AccountCommand): Promise<Answer<undefined>> {
    const { accounts, mail, brand, publicUrl } = this.#dependencies
    const closed = await accounts.execute(caller, caller.accountId, command)
    if ('refuse' in closed) return closed
    if (closed.accept.some(({ data }) => 'sessionId' in data && data.sessionId !== caller.sessionId)) {
      const { identities } = await accounts.state(caller.accountId)
      // The first address got the code.
      const not = identities.find(({ kind }) => kind === 'email')
      tellOthers(mail, { identities, not }, to => sessionsEndedMessage({ to, brand, publicUrl: publicUrl() }))
    }
    return answer(undefined)
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
  places: SessionPlaces
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

/** A browser that signs in, and the token of its earlier session. */
export interface SigningIn extends Client {
  earlierToken?: string | undefined
}

/**
 * Opens a session with a new ID, so that it cannot be known in advance. Closes the browser's earlier session, even if
 * it belonged to another account.
 */
export const openSession = async (
  { accounts, tokens, browsers, places, clock, random }: SessionDependencies,
  caller: Caller,
  accountId: AccountId,
  { earlierToken, ...from }: SigningIn,
): Promise<Answer<OpenedSession>> => {
  const earlier = earlierToken === undefined ? undefined : tokens.read(earlierToken)
  const sessionId = newSessionId(random)
  const expiresAt = new Date(clock.nowMs() + SESSION_MS).toISOString()
  const replaces = earlier?.accountId === accountId ? earlier.sessionId : undefined
  const command = { type: 'OpenSession', sessionId, expiresAt, replaces, place: places.seal(from) } as const
  const opened = await accounts.execute(caller, accountId, command)
  if ('refuse' in opened) return opened
  if (earlier && earlier.accountId !== accountId)
    await accounts.execute(caller, earlier.accountId, { type: 'CloseSession', sessionId: earlier.sessionId })
  return answer({ accountId, token: tokens.make({ accountId, sessionId }), browser: browsers.make(accountId) })
}
