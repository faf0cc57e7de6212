import type { AccountEvent } from '../../../schemas/account-events.ts'
import { amountOf, minorOf } from '../decimal-amounts.ts'
import type { Decided } from '../refusal.ts'
import { missingOf, type PaidPurchase, returns, standingClaims } from './claims.ts'
import { disputed, wonBack } from './disputes.ts'
import { refunded } from './payment-refunds.ts'
import type { AccountState, Claim } from './state.ts'

/**
 * Passes the credits of an ended claim on to the others, in its append. Together, the claims may have been for more
 * than was paid: for example, a refund fails because its payment is disputed. The others then took too few credits, so
 * a claim without money takes the rest. It ends when it is no longer needed.
 */
export const withClaimsLeft = (
  decided: Decided<AccountEvent>,
  state: AccountState,
  evolved: (state: AccountState, events: readonly AccountEvent[]) => AccountState,
): Decided<AccountEvent> => {
  const ended = 'accept' in decided ? decided.accept.find(isEnd) : undefined
  if (!('accept' in decided) || !ended) return decided
  const { purchaseId, claimId } = ended.data
  const events = [...decided.accept]
  const left = () => {
    const after = evolved(state, events)
    const purchase = after.purchases.get(purchaseId) as PaidPurchase
    return { after, purchase, missingMicros: missingOf(purchase) }
  }
  for (;;) {
    // What one gives back may pay what another owes.
    const { after, purchase, missingMicros } = left()
    const claim = standingClaims(purchase).find(isWithoutMoney)
    if (!claim || missingMicros >= 0) break
    const end = { purchaseId, claimId: claim.claimId }
    if (claim.kind === 'dispute') events.push({ type: 'DisputeWon', data: end }, ...wonBack(after, purchase, claim))
    else events.push({ type: 'RefundFailed', data: end }, ...returns(after, purchase, claim, 'the refund failed'))
  }
  const { after, purchase, missingMicros } = left()
  // Each share is rounded up.
  if (missingMicros <= purchase.claims.length) return { ...decided, accept: events }
  const { currency } = purchase.payment
  const money = { purchaseId, claimId: `${claimId} passed on`, amount: amountOf(0n, currency), currency }
  if (standingClaims(purchase).some(({ kind }) => kind === 'dispute')) events.push(...disputed(after, purchase, money))
  else events.push(...refunded(after, purchase, money))
  return { ...decided, accept: events }
}

const isEnd = (event: AccountEvent): event is Extract<AccountEvent, { type: 'RefundFailed' | 'DisputeWon' }> =>
  event.type === 'RefundFailed' || event.type === 'DisputeWon'

const isWithoutMoney = (claim: Claim): boolean => minorOf(claim) === 0n
