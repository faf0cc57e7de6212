import { accountOf } from '../schemas/recorded.ts'
import type { Projection } from './projection.ts'

/** Every movement of credits, by account, in the order in which it happened, which is the order of the keys. */
export const statement: Projection<'statement'> = {
  view: 'statement',
  keys: event => {
    const accountId = accountOf(event)
    return accountId && event.type.startsWith('Credits') ? [lineKey(accountId, event.revision)] : []
  },
  evolve: (row, event) => {
    switch (event.type) {
      case 'CreditsGranted':
        return { eventId: event.id, at: event.metadata.at, kind: 'grant', ...event.data }
      case 'CreditsDebited':
        return { eventId: event.id, at: event.metadata.at, kind: 'debit', ...event.data }
      case 'CreditsRefunded':
        return { eventId: event.id, at: event.metadata.at, kind: 'refund', ...event.data }
      default:
        return row
    }
  },
  indexes: {},
}

/** Padded, so that order as text is order in time; nine digits hold every revision that the log can. */
const lineKey = (accountId: string, revision: number) => `${accountId}/${String(revision).padStart(9, '0')}`
