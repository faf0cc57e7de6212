import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import { projection } from './define.ts'

/** API keys by their hash, and each account's keys in the order in which they were created. */
export const keys = projection({
  view: 'keys',
  version: 4,
  key: event => event.data.hash,
  on: {
    ApiKeyCreated: (_row, event) => {
      const { hash: _hash, ...described } = event.data
      return { accountId: accountOf(event), ...described, createdAt: clockOf(event) }
    },
    ApiKeyUsed: (row, event) => row && { ...row, lastUsedAt: clockOf(event) },
    ApiKeyRevoked: (row, event) => row && { ...row, revokedAt: clockOf(event) },
  },
  indexes: { byAccount: row => `${row.accountId}/${row.keyId}` },
})
