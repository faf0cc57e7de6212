import type { DebitFacts } from '../schemas/account-events.ts'
import type { Receipt } from '../schemas/catalog.ts'
import { accountOf } from '../schemas/events.ts'
import type { KeyId } from '../schemas/primitives.ts'
import type { Recorded } from '../schemas/recorded.ts'
import type { StatementPrice, StatementRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/**
 * Every movement of credits by account. The order of the keys is that in which the movements happened; one index orders
 * them by their times, which may go back in ledger format 1, and another leads from a run to its lines.
 */
export const statement = projection({
  view: 'statement',
  version: 7,
  key: event => lineKey(accountOf(event), event.revision),
  on: {
    CreditsGranted: (_, event) => ({ ...grantLine(event), kind: 'grant' }),
    CreditsWithdrawn: (_, event) => ({ ...grantLine(event), kind: 'withdrawal' }),
    CreditsDebited: (_, event) => debitLine(event),
    CreditsRefunded: (_, event) => refundLine(event),
    CreditsReleased: (_, event) => releaseLine(event),
    // A lot may end with nothing left, which moves no credits.
    CreditsExpired: (_, event) =>
      event.data.amountMicros > 0 ? { ...originOf(event), kind: 'expiry', ...event.data } : undefined,
  },
  indexes: {
    byRun: ({ runId, revision }, key) =>
      runId && `${linesOfRun(key.slice(0, key.indexOf('/')), runId)}${lineNumber(revision)}`,
    byTime: ({ at, revision }, key) => linePlace(key.slice(0, key.indexOf('/')), at, revision),
  },
})

export const lineKey = (accountId: string, revision: number) => `${accountId}/${lineNumber(revision)}`

/** The place of a line in the index byTime. */
export const linePlace = (accountId: string, at: string, revision: number) =>
  `${accountId}/${at}/${lineNumber(revision)}`

/** The prefix of the places of a run's lines in the index byRun. */
export const linesOfRun = (accountId: string, runId: string) => `${accountId}/${runId}/`

/** Sorts after all lines of a time in that index, and before all later lines. */
export const placeAfterTime = (accountId: string, at: string) => `${accountId}/${at}/~`

/** Padded so that text order is the order of revisions; nine digits hold every revision that the log can have. */
const lineNumber = (revision: number) => String(revision).padStart(9, '0')

const originOf = ({ id, revision, metadata: { at, actor } }: Recorded) => {
  const { keyId } = actor as { keyId?: KeyId }
  return { eventId: id, revision, at, ...(keyId && { keyId }) }
}

const debitLine = (event: RecordedOf<'CreditsDebited'>): StatementRow => {
  const { receipt, budget: _budget, ...rest } = event.data
  return { ...originOf(event), kind: 'debit', ...rest, ...priced(receipt), ...purposeOf(event.data) }
}

const releaseLine = (event: RecordedOf<'CreditsReleased'>): StatementRow => {
  const { receipt, debit, ...rest } = event.data
  return { ...originOf(event), kind: 'release', ...rest, ...priced(receipt), ...purposeOf(debit) }
}

/** The client's names for a charge. */
const purposeOf = ({ label, budget }: Pick<DebitFacts, 'label' | 'budget'>) => ({
  ...(label !== undefined && { label }),
  ...(budget && { budget: budget.name }),
})

const priced = ({ model, endpoint, lines, usdPerCreditMicros }: Receipt) => {
  const hasRate = usdPerCreditMicros !== undefined && lines.some(line => line.kind === 'surcharge')
  const price: StatementPrice = { lines, ...(hasRate && { usdPerCreditMicros }) }
  return { model, endpoint, priceText: JSON.stringify(price) }
}

/** An older refund does not repeat its debit. */
const refundLine = (event: RecordedOf<'CreditsRefunded'>): StatementRow => {
  const { debit, error: _error, lots: _lots, ...rest } = event.data
  const { model, endpoint } = debit ?? {}
  const run = { ...(model && { model }), ...(endpoint && { endpoint }), ...purposeOf(debit ?? {}) }
  return { ...originOf(event), kind: 'refund', ...rest, ...run }
}

const grantLine = (event: RecordedOf<'CreditsGranted' | 'CreditsWithdrawn'>) => {
  const { kind: grantKind, ...rest } = event.data
  return { ...originOf(event), grantKind, ...rest }
}
