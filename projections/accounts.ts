import type { Projection } from './projection.ts'

/** Who the accounts are, in the order in which they were opened, which is the order of their ids. */
export const accounts: Projection<'accounts'> = {
  view: 'accounts',
  keys: event => (event.type === 'AccountOpened' ? [event.data.accountId] : []),
  evolve: (row, event) =>
    event.type === 'AccountOpened'
      ? {
          accountId: event.data.accountId,
          email: event.data.email,
          tester: event.data.tester,
          openedAt: event.metadata.at,
        }
      : row,
  indexes: {},
}
