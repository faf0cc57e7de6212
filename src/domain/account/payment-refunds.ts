import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { PurchaseId } from '../../../schemas/primitives.ts'
import { accept, repeat } from '../decider.ts'
import { amountOf, minorOf } from '../decimal-amounts.ts'
import { type Decided, refuse } from '../refusal.ts'
import {
  type ClaimedMoney,
  claimed,
  claimOf,
  findPaid,
  leftWorth,
  type PaidPurchase,
  returns,
  takings,
  uncoveredRefunds,
} from './claims.ts'
import type { ReportedRefund, RequestRefund } from './commands.ts'
import type { AccountState } from './state.ts'

/** Withdraws credits that are left of a purchase. The payment service is then asked to return their price. */
export const requestRefund = (
  { purchaseId, claimId, amount, reason }: RequestRefund,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  if (claimOf(purchase, claimId)) return repeat(claimId)
  const { currency } = purchase.payment
  const mostMinor = leftWorth(state, purchase)
  const most = amountOf(mostMinor, currency)
  const wanted = amount ?? most
  const minor = minorOf({ amount: wanted })
  if (minor <= 0n || minor > mostMinor) return refuse('refund_above_rest', { most, currency })
  const claim = { purchaseId, claimId, amount: wanted, currency, reason }
  return accept(refundRequested(state, purchase, claim))
}

/** The events of a requested refund. */
export const refundRequested = (
  state: AccountState,
  purchase: PaidPurchase,
  { reason, ...money }: ClaimedMoney & { reason: string },
): AccountEvent[] => {
  const claim = claimed(state, purchase, money)
  return [{ type: 'RefundRequested', data: { ...claim, reason } }, ...takings(state, purchase, claim, reason)]
}

/** Records that the payment service has accepted a requested refund. */
export const acceptRefund = (
  { purchaseId, claimId, refundId }: { purchaseId: PurchaseId; claimId: string; refundId: string },
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  return claimOf(purchase, claimId)?.status === 'requested'
    ? accept([{ type: 'RefundAccepted', data: { purchaseId, claimId, refundId } }])
    : repeat(claimId)
}

/** Records a refund as the payment service reports it. */
export const recordRefund = (
  { purchaseId, claimId, amount, currency, hasFailed }: Omit<ReportedRefund, 'type'>,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  const known = claimOf(purchase, claimId)
  if (hasFailed) {
    if (known?.status === 'reversed') return repeat(claimId)
    const failed: AccountEvent = { type: 'RefundFailed', data: { purchaseId, claimId } }
    return accept([failed, ...(known ? returns(state, purchase, known, 'the refund failed') : [])])
  }
  if (known) return repeat(claimId)
  const uncovered = uncoveredRefunds(purchase, { amount, currency })
  if (uncovered) return uncovered
  return accept(refunded(state, purchase, { purchaseId, claimId, amount, currency }))
}

/** The events of a refund that was made. */
export const refunded = (state: AccountState, purchase: PaidPurchase, money: ClaimedMoney): AccountEvent[] => {
  const claim = claimed(state, purchase, money)
  return [{ type: 'PaymentRefunded', data: claim }, ...takings(state, purchase, claim, 'refunded')]
}
