import type { Stripe } from 'stripe'
import type { PaymentReport } from '../../ports/payments.ts'
import { TOP_UP } from './charges.ts'
import { isCounted } from './minor-units.ts'
import { disputeOf, factsOf, isPaid, purchaseOf, refundOf } from './objects.ts'

/** The meaning of an event: https://docs.stripe.com/api/events/types. Undefined if it does not concern us. */
export const reportOf = (event: Stripe.Event): PaymentReport | undefined => {
  // Nothing is sold in it here, but perhaps elsewhere in the operator's account.
  const { currency } = (event.data?.object ?? {}) as { currency?: string | null }
  if (typeof currency === 'string' && !isCounted(currency)) return undefined
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return checkout(event.data.object, isPaid(event.data.object) ? 'checkout_paid' : 'checkout_waiting')
    case 'checkout.session.async_payment_failed':
      return checkout(event.data.object, 'checkout_failed')
    case 'checkout.session.expired':
      return checkout(event.data.object, 'checkout_expired')
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
      return topUp(event.data.object)
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed': {
      const refund = refundOf(event.data.object)
      return refund && { kind: 'refund_changed', refund }
    }
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated': {
      const dispute = disputeOf(event.data.object)
      return dispute && { kind: 'dispute_changed', dispute }
    }
    default:
      return undefined
  }
}

const checkout = (
  session: Stripe.Checkout.Session,
  kind: `checkout_${'paid' | 'waiting' | 'failed' | 'expired'}`,
): PaymentReport | undefined => {
  const purchase = purchaseOf(session.metadata)
  if (!purchase) return undefined
  return kind === 'checkout_paid' ? { kind, ...purchase, facts: factsOf(session) } : { kind, ...purchase }
}

/** The payment of a checkout is told by the checkout. */
const topUp = ({ metadata }: Stripe.PaymentIntent): PaymentReport | undefined => {
  const purchase = purchaseOf(metadata)
  return purchase && metadata[TOP_UP] ? { kind: 'charge_changed', ...purchase } : undefined
}
