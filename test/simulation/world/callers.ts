import type { AccountId, SessionId } from '../../../schemas/primitives.ts'

export const operator = { kind: 'operator', name: 'ada' } as const

const sessionId: SessionId = 'sess_01h2xcejqtf2nbrexx3vqjhp41'

/** Opens the session of an owner, for longer than any world lasts. */
export const openSession = { type: 'OpenSession', sessionId, expiresAt: '2099-01-01T00:00:00.000Z' } as const

/** The account's owner, who needs no key. */
export const ownerOf = (accountId: AccountId) => ({ kind: 'session', accountId, sessionId }) as const
