import { clockOf } from '../schemas/recorded.ts'
import { projection } from './define.ts'

/** Accounts in the order in which they were opened, which is the order of their ids. */
export const accounts = projection({
  view: 'accounts',
  version: 1,
  key: event => event.data.accountId,
  on: {
    AccountOpened: (_, event) => ({ ...event.data, openedAt: clockOf(event) }),
  },
})
