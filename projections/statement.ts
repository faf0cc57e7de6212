import { accountOf } from '../schemas/events.ts'
import { projection, type RecordedOf } from './define.ts'

/** Every movement of credits by account, in the order in which it happened, which is the order of the keys. */
export const statement = projection({
  view: 'statement',
  version: 2,
  key: event => lineKey(accountOf(event), event.revision),
  on: {
    CreditsGranted: (_, event) => ({ ...grantLine(event), kind: 'grant' }),
    CreditsWithdrawn: (_, event) => ({ ...grantLine(event), kind: 'withdrawal' }),
    CreditsDebited: (_, { id, data, metadata: { at } }) => ({ eventId: id, at, kind: 'debit', ...data }),
    CreditsRefunded: (_, { id, data, metadata: { at } }) => ({ eventId: id, at, kind: 'refund', ...data }),
  },
})

/** Padded so that text order is time order; nine digits hold every revision that the log can have. */
const lineKey = (accountId: string, revision: number) => `${accountId}/${String(revision).padStart(9, '0')}`

const grantLine = ({ id, data, metadata: { at } }: RecordedOf<'CreditsGranted' | 'CreditsWithdrawn'>) => {
  const { kind: grantKind, ...rest } = data
  return { eventId: id, at, grantKind, ...rest }
}
