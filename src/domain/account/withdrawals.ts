import type { AccountEvent } from '../../../schemas/account-events.ts'
import { DAY_MS } from '../days.ts'
import { accept, repeat } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import { findPaid, unusedWorth } from './claims.ts'
import type { DeclareWithdrawal } from './commands.ts'
import { writeRefusal } from './keys.ts'
import { noticeRaised } from './notices.ts'
import { refundRequested } from './payment-refunds.ts'
import type { AccountState } from './state.ts'

// The customer withdraws from the contract about a purchase: Directive 2011/83/EU, articles 9 to 16.

/** Records the declaration once, with the refund of what nobody has used, and with the receipt for the customer. */
export const declareWithdrawal = (
  { keyId, purchaseId, claimId }: Omit<DeclareWithdrawal, 'type'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  if (purchase.isWithdrawn) return repeat(purchaseId)
  const { withdrawalDays: days, creditsMicros, payment } = purchase
  if (days === undefined) return refuse('withdrawal_not_offered')
  const endsAt = withdrawalEnd(payment.paidAt, days)
  if (atMs >= Date.parse(endsAt)) return refuse('withdrawal_too_late', { endsAt })
  const refund = unusedWorth(state, purchase)
  const isNothing = Number(refund.amount) === 0
  const claim = { purchaseId, claimId, ...refund, reason: 'withdrawal from the contract' }
  const requested = isNothing ? [] : refundRequested(state, purchase, claim)
  const { amount, currency, paidAt } = payment
  const receipt = {
    kind: 'withdrawal_received' as const,
    declaredAt: new Date(atMs).toISOString(),
    ...{ purchaseId, paidAt, creditsMicros, paid: { amount, currency }, refund },
  }
  const noticesBefore = requested.filter(({ type }) => type === 'NoticeRaised').length
  return accept([
    { type: 'WithdrawalDeclared', data: { purchaseId, ...(!isNothing && { claimId }), ...refund } },
    ...requested,
    noticeRaised(state, receipt, noticesBefore),
  ])
}

/** The time zones of the earliest and of the latest midnight on Earth. */
const EARLIEST_MS = 14 * 60 * 60 * 1000
const LATEST_MS = 12 * 60 * 60 * 1000

/**
 * When the right to withdraw ends, in ISO 8601. The day of the payment does not count, and a period that would end on a
 * weekend ends on Monday: Regulation (EEC) 1182/71, article 3. Customers may live anywhere, so the payment is on the
 * latest day that it is on Earth, and the last day is over when it is over everywhere.
 */
export const withdrawalEnd = (paidAt: string, days: number): string => {
  const lastDay = Math.floor((Date.parse(paidAt) + EARLIEST_MS) / DAY_MS) + days
  const daysToMonday = [1, 0, 0, 0, 0, 0, 2][new Date(lastDay * DAY_MS).getUTCDay()] as number
  return new Date((lastDay + daysToMonday + 1) * DAY_MS + LATEST_MS).toISOString()
}
