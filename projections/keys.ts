import { accountOf } from '../schemas/recorded.ts'
import type { Projection } from './projection.ts'

/** API keys by their hash, and each account's keys in the order in which they were created. */
export const keys: Projection<'keys'> = {
  view: 'keys',
  keys: event => (event.type === 'ApiKeyCreated' || event.type === 'ApiKeyRevoked' ? [event.data.hash] : []),
  evolve: (row, event) => {
    const accountId = accountOf(event)
    if (event.type === 'ApiKeyCreated' && accountId) {
      const { keyId, name, lastFour } = event.data
      return { accountId, keyId, name, lastFour, createdAt: event.metadata.at }
    }
    if (event.type === 'ApiKeyRevoked' && row) return { ...row, revokedAt: event.metadata.at }
    return row
  },
  indexes: { byAccount: row => `${row.accountId}/${row.keyId}` },
}
