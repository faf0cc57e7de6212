import type { Actor } from '../schemas/actor.ts'
import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import { projection } from './define.ts'

/** The ID of a key, `owner` for a person who was signed in, or the kind of the actor. */
const creatorOf = (actor: Actor): string =>
  actor.kind === 'key' ? actor.keyId : actor.kind === 'session' ? 'owner' : actor.kind

/** API keys by their hash, and each account's keys in the order in which they were created. */
export const keys = projection({
  view: 'keys',
  version: 6,
  key: event => event.data.hash,
  on: {
    ApiKeyCreated: (_row, event) => {
      const { hash: _hash, ...described } = event.data
      const createdBy = creatorOf(event.metadata.actor as Actor)
      return { accountId: accountOf(event), ...described, createdAt: clockOf(event), createdBy }
    },
    ApiKeyUsed: (row, event) => row && { ...row, lastUsedAt: clockOf(event) },
    ApiKeyRevoked: (row, event) => row && { ...row, revokedAt: clockOf(event) },
  },
  indexes: { byId: ({ keyId }) => keyId, byAccount: row => `${row.accountId}/${row.keyId}` },
})
