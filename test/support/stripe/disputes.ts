import type { Stripe } from 'stripe'
import { addTransaction } from './charges.ts'
import type { Tell } from './events.ts'
import type { Store } from './store.ts'

/** What a dispute costs the seller, in the smallest unit: https://docs.stripe.com/disputes/how-disputes-work */
const FEE_UNITS = 2000

/** A customer disputes a payment with the bank: https://docs.stripe.com/api/disputes/object */
export const openDispute = (
  store: Store,
  tell: Tell,
  intentId: string,
  { amount, isInquiry = false }: { amount?: number; isInquiry?: boolean },
): Stripe.Dispute => {
  const intent = store.get('payment_intent', intentId)
  const charge = store.get('charge', intent.latest_charge as string)
  const dispute = store.add({
    ...{ id: store.idOf('dispute'), object: 'dispute', amount: amount ?? charge.amount, currency: charge.currency },
    ...{ charge: charge.id, payment_intent: intent.id, created: store.now(), livemode: store.isLive, metadata: {} },
    ...{ balance_transactions: [], enhanced_eligibility_types: [], evidence: {}, intended_submission_method: null },
    evidence_details: { due_by: store.now() + 9 * 86_400, has_evidence: false, past_due: false, submission_count: 0 },
    is_charge_refundable: isInquiry,
    reason: 'fraudulent',
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
  } as unknown as Stripe.Dispute)
  tell('charge.dispute.created', dispute)
  if (!isInquiry) withdraw(store, tell, dispute)
  return dispute
}

/** An inquiry becomes a dispute: https://docs.stripe.com/disputes/how-disputes-work#inquiries */
export const escalate = (store: Store, tell: Tell, id: string) => {
  const dispute = store.get('dispute', id)
  Object.assign(dispute, { status: 'needs_response', is_charge_refundable: false })
  tell('charge.dispute.updated', dispute)
  withdraw(store, tell, dispute)
}

export const closeDispute = (store: Store, tell: Tell, id: string, status: 'won' | 'lost' | 'warning_closed') => {
  const dispute = store.get('dispute', id)
  dispute.status = status
  if (status === 'won') {
    // The payment can be refunded again.
    store.get('charge', dispute.charge as string).disputed = false
    move(store, dispute, dispute.amount, 0)
  }
  tell('charge.dispute.closed', dispute)
  if (status === 'won') tell('charge.dispute.funds_reinstated', dispute)
}

const withdraw = (store: Store, tell: Tell, dispute: Stripe.Dispute) => {
  store.get('charge', dispute.charge as string).disputed = true
  move(store, dispute, -dispute.amount, FEE_UNITS)
  tell('charge.dispute.funds_withdrawn', dispute)
}

const move = (store: Store, { id, currency, balance_transactions }: Stripe.Dispute, amount: number, fee: number) => {
  balance_transactions.push(addTransaction(store, { amount, fee, currency, type: 'adjustment', source: id }))
}
