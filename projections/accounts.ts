import { accountOf } from '../schemas/events.ts'
import { clockOf } from '../schemas/recorded.ts'
import { projection } from './define.ts'

/** Accounts in the order in which they were opened, which is the order of their ids. */
export const accounts = projection({
  view: 'accounts',
  version: 3,
  key: accountOf,
  on: {
    // Whether it is a tester may change, and is in the state of the account.
    AccountOpened: (_, event) => {
      const { tester: _tester, ...opening } = event.data
      return { ...opening, openedAt: clockOf(event) }
    },
    AccountErased: (row, event) =>
      row && { accountId: row.accountId, email: 'erased', openedAt: row.openedAt, erasedAt: clockOf(event) },
  },
})
