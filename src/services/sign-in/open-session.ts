import type { AccountId } from '../../../schemas/primitives.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { newSessionId } from '../ids.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { SessionTokens } from './session-tokens.ts'

/** Afterwards, the owner signs in again. */
export const SESSION_MS = 30 * 24 * 60 * 60 * 1000

export interface SessionDependencies {
  accounts: AccountMailboxes
  tokens: SessionTokens
  browsers: KnownBrowsers
  clock: Clock
  random: Random
}

/** A session that was opened just now. */
export interface OpenedSession {
  accountId: AccountId
  token: string
  /** By which the browser is known from now on, also after the session. */
  browser: string
}

/**
 * Opens a session with a new id, so that nobody can know it before. The earlier session of the same browser ends, also
 * if it was that of another account.
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
