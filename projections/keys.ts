import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import { projection } from './define.ts'

/** API keys by their hash, and each account's keys in the order in which they were created. */
export const keys = projection({
  view: 'keys',
  version: 2,
  key: event => event.data.hash,
  on: {
    ApiKeyCreated: (_, event) => {
      const { keyId, name, lastFour, scope } = event.data
      const createdAt = clockOf(event)
      return { accountId: accountOf(event), keyId, name, lastFour, ...(scope && { scope }), createdAt }
    },
    ApiKeyRevoked: (row, event) => row && { ...row, revokedAt: clockOf(event) },
  },
  indexes: { byAccount: row => `${row.accountId}/${row.keyId}` },
})
