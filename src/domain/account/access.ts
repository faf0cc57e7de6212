import type { AccountEvent, SESSION_ENDINGS } from '../../../schemas/account-events.ts'
import type { Identity } from '../../../schemas/identity.ts'
import { MAX_SESSIONS, type SessionId } from '../../../schemas/primitives.ts'
import { accept, repeat } from '../decider.ts'
import { isSameIdentity } from '../login/identity.ts'
import { type Decided, type Refusal, type RefusalOf, refuse } from '../refusal.ts'
import type { NewSession } from './commands.ts'
import type { AccountState } from './state.ts'
import { topUpRemoved } from './top-ups.ts'

/** Opens a session in place of the browser's earlier one, and of the oldest if there are too many. */
export const openSession = (
  { sessionId, expiresAt, replaces, place }: NewSession,
  state: AccountState,
): Decided<AccountEvent> => {
  if (state.sessions.has(sessionId)) return repeat(sessionId)
  const renewed = replaces !== undefined && state.sessions.has(replaces) ? [replaces] : []
  const others = [...state.sessions.keys()].filter(id => id !== replaces)
  const displaced = others.slice(0, Math.max(0, others.length + 1 - MAX_SESSIONS))
  return accept([
    ...renewed.map(id => closed(id, 'renewed')),
    ...displaced.map(id => closed(id, 'displaced')),
    { type: 'SessionOpened', data: { sessionId, expiresAt, ...(place && { place }) } },
  ])
}

/** The session of a caller that has one. */
interface BySession {
  session?: SessionId | undefined
}

/** Closes a session. Another than the caller's needs a fresh code. */
export const closeSession = (
  { sessionId, session = sessionId }: BySession & { sessionId: SessionId },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  if (!state.sessions.has(sessionId)) return refuse('session_ended')
  if (session === sessionId) return accept([closed(sessionId, 'signed_out')])
  return endingRefusal(session, state, atMs) ?? accept([closed(sessionId, 'signed_out_everywhere')])
}

/** Closes all sessions, that of the caller last or not at all, so that every event is by an open one. */
export const closeAllSessions = (
  { session, exceptOwn = false }: BySession & { exceptOwn?: boolean },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const others = [...state.sessions.keys()].filter(id => id !== session)
  const refused = others.length > 0 ? endingRefusal(session, state, atMs) : undefined
  if (refused) return refused
  const all = session && !exceptOwn ? [...others, session] : others
  return accept(all.map(id => closed(id, 'signed_out_everywhere')))
}

/** A suspended account gets no codes that confirm a session, and a thief gains nothing by ending its sessions. */
const endingRefusal = (session: SessionId | undefined, state: AccountState, atMs: number) =>
  state.suspension ? undefined : freshRefusal(session, state, atMs)

/** How long a code counts as fresh, which protects what a thief of a session would do first. */
export const FRESH_MS = 60 * 60 * 1000

/** Why a session may not do what needs a fresh code; undefined if it may, or if the caller has no session. */
export const freshRefusal = (
  sessionId: SessionId | undefined,
  { sessions }: Pick<AccountState, 'sessions'>,
  atMs: number,
): { refuse: Refusal } | undefined => {
  const session = sessionId && sessions.get(sessionId)
  return session && atMs >= session.codeAtMs + FRESH_MS ? refuse('fresh_code_required') : undefined
}

/** Records that the owner entered a code in the browser of the session. */
export const confirmSession = ({ session }: BySession, { sessions }: AccountState): Decided<AccountEvent> =>
  session && sessions.has(session)
    ? accept([{ type: 'SessionConfirmed', data: { sessionId: session } }])
    : refuse('session_ended')

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

/**
 * Closes the account for good, and begins the erasure of its personal data. A session must be fresh. Its own end comes
 * last, so that every event is by an open session.
 */
export const eraseAccount = (
  { reason, session }: BySession & { reason: string },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refused = freshRefusal(session, state, atMs)
  if (refused) return refused
  const { openRuns, sessions } = state
  if (openRuns.size > 0) return refuse('account_has_open_runs', { openRuns: openRuns.size })
  const others = [...sessions.keys()].filter(id => id !== session)
  return accept([
    ...allRevoked(state),
    ...topUpRemoved(state, 'erased'),
    { type: 'AccountErased', data: { reason } },
    ...[...others, ...(session ? [session] : [])].map(id => closed(id, 'signed_out_everywhere')),
  ])
}

/** Records that the personal data of an erased account is gone. */
export const completeErasure = ({ erasure }: AccountState): Decided<AccountEvent> =>
  accept(erasure === 'begun' ? [{ type: 'ErasureCompleted', data: {} }] : [])

/** Suspends the account for good, without keys. Its credits stay, so that every number can still be explained. */
export const closeAccount = ({ reason }: { reason: string }, state: AccountState): Decided<AccountEvent> => {
  const { openRuns, activeKeys, suspension } = state
  if (openRuns.size > 0) return refuse('account_has_open_runs', { openRuns: openRuns.size })
  if (suspension && activeKeys.size === 0) return refuse('account_already_suspended', { reason: suspension.reason })
  const revoked = allRevoked(state)
  return accept(suspension ? revoked : [...revoked, { type: 'AccountSuspended', data: { reason } }])
}

const allRevoked = ({ activeKeys }: AccountState): AccountEvent[] =>
  [...activeKeys].map(([keyId, { hash }]) => ({ type: 'ApiKeyRevoked', data: { keyId, hash } }))

export const setTester = ({ tester }: { tester: boolean }, state: AccountState): Decided<AccountEvent> =>
  accept(tester === state.tester ? [] : [{ type: 'TesterSet', data: { tester } }])

export const setRetention = (
  { days, reason }: { days?: 0 | undefined; reason: string },
  { retentionDays }: AccountState,
): Decided<AccountEvent> =>
  accept(days === retentionDays ? [] : [{ type: 'RetentionSet', data: { ...(days === 0 && { days }), reason } }])

/** Why the account's owner may do and see nothing now; undefined unless the account is suspended. */
export const suspensionRefusal = ({ suspension }: AccountState): RefusalOf<'account_suspended'> | undefined =>
  suspension && { code: 'account_suspended', reason: suspension.reason }
