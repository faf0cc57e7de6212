import type { AccountEvent, SESSION_ENDINGS } from '../../../schemas/account-events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { MAX_SESSIONS, type SessionId } from '../../../schemas/primitives.ts'
import { accept, repeat } from '../decider.ts'
import { isSameIdentity } from '../login/identity.ts'
import { type Decided, type Refusal, type RefusalOf, refuse } from '../refusal.ts'
import type { NewSession } from './commands.ts'
import type { AccountState } from './state.ts'

/** Opens a session in place of the browser's earlier one, and of the oldest if there are too many. */
export const openSession = (
  { sessionId, expiresAt, replaces }: NewSession,
  state: AccountState,
): Decided<AccountEvent> => {
  if (state.sessions.has(sessionId)) return repeat(sessionId)
  const renewed = replaces !== undefined && state.sessions.has(replaces) ? [replaces] : []
  const others = [...state.sessions.keys()].filter(id => id !== replaces)
  const displaced = others.slice(0, Math.max(0, others.length + 1 - MAX_SESSIONS))
  return accept([
    ...renewed.map(id => closed(id, 'renewed')),
    ...displaced.map(id => closed(id, 'displaced')),
    { type: 'SessionOpened', data: { sessionId, expiresAt } },
  ])
}

export const closeSession = (
  { sessionId }: { sessionId: SessionId },
  { sessions }: AccountState,
): Decided<AccountEvent> =>
  sessions.has(sessionId) ? accept([closed(sessionId, 'signed_out')]) : refuse('session_ended')

/** Closes all sessions, that of the caller last, so that every event is by an open one. */
export const closeAllSessions = ({ session }: { session?: SessionId | undefined }, state: AccountState) => {
  const others = [...state.sessions.keys()].filter(id => id !== session)
  const all = session ? [...others, session] : others
  return accept(all.map(id => closed(id, 'signed_out_everywhere')))
}

/** The limit of identities is checked before the identity's own stream names the account, and no longer here. */
export const linkIdentity = ({ identity }: { identity: Identity }, state: AccountState): Decided<AccountEvent> =>
  state.identities.some(each => isSameIdentity(each, identity))
    ? repeat(identity.kind)
    : accept([{ type: 'IdentityLinked', data: { identity } }])

/**
 * Why a session may do nothing; undefined if it may, or if the caller has none. It may have ended since the request
 * began.
 */
export const sessionRefusal = (
  sessionId: SessionId | undefined,
  { sessions }: Pick<AccountState, 'sessions'>,
  atMs: number,
): { refuse: Refusal } | undefined => {
  if (!sessionId) return undefined
  const { expiresAtMs = 0 } = sessions.get(sessionId) ?? {}
  return atMs < expiresAtMs ? undefined : refuse('session_ended')
}

const closed = (sessionId: SessionId, reason: (typeof SESSION_ENDINGS)[number]): AccountEvent => ({
  type: 'SessionClosed',
  data: { sessionId, reason },
})

export const suspendAccount = ({ reason }: { reason: string }, state: AccountState): Decided<AccountEvent> =>
  state.suspension
    ? refuse('account_already_suspended', { reason: state.suspension.reason })
    : accept([{ type: 'AccountSuspended', data: { reason } }])

export const resumeAccount = ({ reason }: { reason: string }, state: AccountState): Decided<AccountEvent> =>
  state.suspension ? accept([{ type: 'AccountResumed', data: { reason } }]) : refuse('account_not_suspended')

/** Why the account's owner may do and see nothing now; undefined unless the account is suspended. */
export const suspensionRefusal = ({ suspension }: AccountState): RefusalOf<'account_suspended'> | undefined =>
  suspension && { code: 'account_suspended', reason: suspension.reason }
