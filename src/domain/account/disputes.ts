import type { AccountEvent } from '../../../schemas/account-events.ts'
import { accept, repeat } from '../decider.ts'
import type { Decided } from '../refusal.ts'
import {
  type ClaimedMoney,
  claimed,
  claimOf,
  findPaid,
  type PaidPurchase,
  returns,
  takings,
  uncoveredRefunds,
  usedOf,
} from './claims.ts'
import type { ReportedDispute } from './commands.ts'
import { changeDebt } from './debts.ts'
import type { AccountState, Claim } from './state.ts'

/** Records a dispute as the payment service reports it. A lost dispute stays a claim. */
export const recordDispute = (
  { purchaseId, claimId, amount, currency, status }: Omit<ReportedDispute, 'type'>,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  const known = claimOf(purchase, claimId)
  if (status === 'won') {
    if (known?.status === 'reversed') return repeat(claimId)
    const won: AccountEvent = { type: 'DisputeWon', data: { purchaseId, claimId } }
    return accept([won, ...(known ? wonBack(state, purchase, known) : [])])
  }
  // A won dispute has returned its credits, so losing it on appeal is another claim.
  const isAppeal = known?.status === 'reversed' && status === 'lost'
  const id = isAppeal ? `${claimId} on appeal` : claimId
  if (claimOf(purchase, id)) return repeat(id)
  const uncovered = uncoveredRefunds(purchase, { amount, currency })
  if (uncovered) return uncovered
  return accept(disputed(state, purchase, { purchaseId, claimId: id, amount, currency }))
}

/** The events of a dispute. */
export const disputed = (state: AccountState, purchase: PaidPurchase, money: ClaimedMoney): AccountEvent[] => {
  const claim = claimed(state, purchase, money)
  const owedMicros = Math.min(claim.creditsMicros - claim.withdrawnMicros, usedOf(state, purchase))
  return [
    { type: 'PaymentDisputed', data: { ...claim, owedMicros } },
    ...takings(state, purchase, claim, 'the payment is disputed'),
    ...owed(state, claim.claimId, owedMicros),
  ]
}

/** The events of a won dispute: the rest of its debt ends, and all other credits return. */
export const wonBack = (state: AccountState, purchase: PaidPurchase, claim: Claim): AccountEvent[] => {
  const { claimId, owedMicros: amountMicros } = claim
  const reason = 'the dispute was won'
  if (amountMicros === 0) return returns(state, purchase, claim, reason)
  const settled = { claimId, amountMicros, owedAfterMicros: state.owedMicros - amountMicros }
  const after = changeDebt(state, settled, -1)
  return [{ type: 'CreditsSettled', data: settled }, ...returns(after, purchase, claim, reason)]
}

const owed = ({ owedMicros: before }: AccountState, claimId: string, amountMicros: number): AccountEvent[] =>
  amountMicros > 0
    ? [{ type: 'CreditsOwed', data: { claimId, amountMicros, owedAfterMicros: before + amountMicros } }]
    : []
