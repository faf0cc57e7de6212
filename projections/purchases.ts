import { accountOf } from '../schemas/events.ts'
import type { ClaimRow, PurchaseRow } from '../schemas/views.ts'
import { projection, type RecordedOf } from './define.ts'

/** The purchases of each account. */
export const purchases = projection({
  view: 'purchases',
  version: 3,
  key: event => `${accountOf(event)}/${event.data.purchaseId}`,
  on: {
    PurchaseOpened: (_, event): PurchaseRow => {
      const { validDays: _days, catalogRevision: _revision, ...purchase } = event.data
      return { accountId: accountOf(event), ...purchase, status: 'open', createdAt: event.metadata.at }
    },
    CheckoutOpened: (row, { data }) => row && { ...row, ...data },
    PurchasePaid: (row, { data, metadata }) => {
      if (!row) return undefined
      // The page is over, and the address is not for views.
      const { url: _url, expiresAt: _expiresAt, ...rest } = row
      const { customer: _customer, address: _address, ...paid } = data
      return { ...rest, ...paid, status: 'paid', paidAt: metadata.at }
    },
    FeeCharged: (row, { data: { amount, currency } }) => row && { ...row, fee: { amount, currency } },
    PurchaseClosed: (row, { data }) => {
      if (!row) return undefined
      const { url: _url, expiresAt: _expiresAt, ...rest } = row
      return { ...rest, status: data.reason }
    },
    RefundRequested: (row, event) => claimed(row, 'refund', event),
    PaymentRefunded: (row, event) => claimed(row, 'refund', event),
    PaymentDisputed: (row, event) => claimed(row, 'dispute', event),
    WithdrawalDeclared: (row, { data: { claimId, amount, currency }, metadata: { at } }) =>
      row && { ...row, withdrawal: { at, amount, currency, ...(claimId !== undefined && { claimId }) } },
    RefundFailed: (row, event) => reversed(row, event),
    DisputeWon: (row, event) => reversed(row, event),
  },
  indexes: { byId: ({ purchaseId }) => purchaseId },
})

const claimed = (
  row: PurchaseRow | undefined,
  kind: ClaimRow['kind'],
  { data, metadata }: RecordedOf<'RefundRequested' | 'PaymentRefunded' | 'PaymentDisputed'>,
): PurchaseRow | undefined => {
  const { claimId, amount, currency } = data
  return row && { ...row, claims: [...(row.claims ?? []), { claimId, kind, at: metadata.at, amount, currency }] }
}

const reversed = (
  row: PurchaseRow | undefined,
  { data: { claimId }, metadata: { at } }: RecordedOf<'RefundFailed' | 'DisputeWon'>,
): PurchaseRow | undefined =>
  row && {
    ...row,
    claims: (row.claims ?? []).map(claim => (claim.claimId === claimId ? { ...claim, reversedAt: at } : claim)),
  }
