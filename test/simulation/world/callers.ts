import type { AccountId, SessionId } from '../../../schemas/primitives.ts'

export const operator = { kind: 'operator', name: 'ada' } as const

/** The account's owner, who needs no key. */
export const ownerOf = (accountId: AccountId) =>
  ({ kind: 'session', accountId, sessionId: 'sess_01h2xcejqtf2nbrexx3vqjhp41' as SessionId }) as const
