import { accountOf } from '../schemas/events.ts'
import type { KeyId } from '../schemas/primitives.ts'
import type { UsageRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

type Counted = RecordedOf<'CreditsDebited' | 'CreditsRefunded' | 'CreditsReleased'>

/**
 * Sums of an account's runs, by UTC day, model and key: runs and charges on the day of the debit, failures and refunds
 * on the day of the refund, and releases on the day that the run ended. An account has few of these rows, however many
 * runs it has.
 */
export const usage = projection({
  view: 'usage',
  version: 2,
  key: (event: Counted) => keyOf(event, USAGE_PARTS),
  on: {
    CreditsDebited: (row, event) => debited(row ?? empty(withoutLabel(groupOf(event))), event),
    CreditsRefunded: (row, event) => refunded(row ?? empty(withoutLabel(groupOf(event))), event),
    CreditsReleased: (row, event) => released(row ?? empty(withoutLabel(groupOf(event))), event),
  },
})

/** The same by label as well. Clients choose labels, so an account may have as many of these rows as runs. */
export const usageByLabel = projection({
  view: 'usageByLabel',
  version: 2,
  key: (event: Counted) => keyOf(event, LABELLED_PARTS),
  on: {
    CreditsDebited: (row, event) => debited(row ?? empty(groupOf(event)), event),
    CreditsRefunded: (row, event) => refunded(row ?? empty(groupOf(event)), event),
    CreditsReleased: (row, event) => released(row ?? empty(groupOf(event)), event),
  },
})

export type UsagePart = 'day' | 'label' | 'model' | 'key'

/** The parts of the keys of each view, in their order. */
export const USAGE_PARTS: readonly UsagePart[] = ['day', 'model', 'key']
export const LABELLED_PARTS: readonly UsagePart[] = ['day', 'label', 'model', 'key']

/**
 * Some parts of a row's key as text. Each ends with a slash and contains no other, so that the texts of some first
 * parts are in the order of the keys. A part that is missing is empty.
 */
export const usagePlace = (group: UsageGroup, parts: readonly UsagePart[]): string =>
  parts.map(part => `${textOf[part](group)}/`).join('')

type UsageGroup = Pick<UsageRow, 'day' | 'model' | 'keyId' | 'label'>

const textOf: Record<UsagePart, (group: UsageGroup) => string> = {
  day: ({ day }) => day,
  label: ({ label = '' }) => encodeURIComponent(label),
  model: ({ model = '' }) => model,
  key: ({ keyId = '' }) => keyId,
}

const keyOf = (event: Counted, parts: readonly UsagePart[]) =>
  `${accountOf(event)}/${usagePlace(groupOf(event), parts)}`

const groupOf = (event: Counted): UsageGroup => {
  const day = event.metadata.at.slice(0, 10)
  const { model, keyId, label } = factsOf(event)
  return { day, ...(model && { model }), ...(keyId && { keyId }), ...(label !== undefined && { label }) }
}

const withoutLabel = ({ label: _, ...group }: UsageGroup): UsageGroup => group

/** Refunds from before they repeated their debits have none of these facts. */
const factsOf = (event: Counted): Omit<UsageGroup, 'day'> => {
  if (event.type !== 'CreditsDebited') return event.data.debit ?? {}
  const { receipt, label } = event.data
  const { keyId } = event.metadata.actor as { keyId?: KeyId }
  return { model: receipt.model, ...(keyId && { keyId }), ...(label !== undefined && { label }) }
}

const empty = (group: UsageGroup): UsageRow => ({
  ...group,
  ...{ runs: 0, failures: 0, chargedMicros: 0, refundedMicros: 0, releasedMicros: 0 },
})

const debited = (row: UsageRow, { data }: RecordedOf<'CreditsDebited'>): UsageRow => ({
  ...row,
  runs: row.runs + 1,
  chargedMicros: row.chargedMicros + data.amountMicros,
})

const refunded = (row: UsageRow, event: RecordedOf<'CreditsRefunded'>): UsageRow => ({
  ...row,
  failures: row.failures + Number(isOfFailure(event)),
  refundedMicros: row.refundedMicros + event.data.amountMicros,
})

const released = (row: UsageRow, { data }: RecordedOf<'CreditsReleased'>): UsageRow => ({
  ...row,
  releasedMicros: row.releasedMicros + data.amountMicros,
})

/** An older refund does not say so itself, but only operators refund completed runs, and they end none. */
const isOfFailure = ({ data, metadata }: RecordedOf<'CreditsRefunded'>): boolean =>
  data.debit ? data.error !== undefined : (metadata.actor as { kind?: string }).kind !== 'operator'
