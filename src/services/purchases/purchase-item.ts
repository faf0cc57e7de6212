import type * as api from '../../../schemas/api/purchase.ts'
import type { ClaimRow, PurchaseRow, WithdrawalRow } from '../../../schemas/views.ts'
import { withdrawalEnd } from '../../domain/account/withdrawals.ts'
import { fromMicros } from '../../domain/money.ts'
import type { IssuedInvoice } from './purchases.ts'

/** A purchase in the form of the API. */
export const purchaseItem = (row: PurchaseRow): api.Purchase => {
  const { purchaseId, status, url, expiresAt, pack, creditsMicros, bonusMicros, amount, currency } = row
  const { methodOf, tax, country, invoice, createdAt, paidAt, withdrawal, claims } = row
  const withdrawalUntil = withdrawableUntil(row)
  return {
    object: 'purchase',
    ...{ id: purchaseId, status },
    ...(url !== undefined && { url }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(pack !== undefined && { pack }),
    ...(methodOf && { top_up: true as const }),
    credits: fromMicros(creditsMicros),
    ...(bonusMicros !== undefined && { bonus_credits: fromMicros(bonusMicros) }),
    ...{ amount, currency },
    ...(tax !== undefined && { tax }),
    ...(country !== undefined && { country }),
    ...(invoice !== undefined && { invoice }),
    created_at: createdAt,
    ...(paidAt !== undefined && { paid_at: paidAt }),
    ...(withdrawalUntil !== undefined && { withdrawal_until: withdrawalUntil }),
    ...(withdrawal && { withdrawal: withdrawalItem(withdrawal) }),
    ...(claims && { claims: claims.map(claimItem) }),
  }
}

/** When the right to withdraw from the contract ends; undefined if there is none, or if it was used. */
export const withdrawableUntil = ({ paidAt, withdrawalDays, withdrawal }: PurchaseRow): string | undefined =>
  paidAt === undefined || withdrawalDays === undefined || withdrawal ? undefined : withdrawalEnd(paidAt, withdrawalDays)

const withdrawalItem = ({ at, amount, currency }: WithdrawalRow) => ({ declared_at: at, amount, currency })

/** An invoice in the form of the API. */
export const invoiceItem = ({ id, number, url, pdfUrl }: IssuedInvoice): api.Invoice => ({
  ...{ object: 'invoice', id, url },
  ...(number !== undefined && { number }),
  ...(pdfUrl !== undefined && { pdf_url: pdfUrl }),
})

const claimItem = ({ kind, claimId, amount, currency, at, reversedAt }: ClaimRow) => ({
  ...{ kind, id: claimId, amount, currency, created_at: at },
  ...(reversedAt !== undefined && { reversed_at: reversedAt }),
})
