import type { Stripe } from 'stripe'
import type { Charge, ChargeOutcome } from '../../ports/payments.ts'
import { toMinorUnits } from './minor-units.ts'
import { FEE, feeOf, metadataOf } from './objects.ts'

/** In the metadata of payments that belong to no checkout. */
export const TOP_UP = 'top_up'

/** https://docs.stripe.com/payments/save-and-reuse#charge-saved-payment-method */
export const chargeParameters = (charge: Charge): Stripe.PaymentIntentCreateParams => ({
  amount: toMinorUnits(charge.money),
  currency: charge.money.currency.toLowerCase(),
  customer: charge.customerId,
  payment_method: charge.methodId,
  description: charge.description,
  off_session: true,
  confirm: true,
  // The customer is away, so no bank can send a browser to another page.
  automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  metadata: { ...metadataOf(charge), [TOP_UP]: charge.chargeKey },
  expand: [FEE],
})

export const outcomeOf = (intent: Stripe.PaymentIntent): ChargeOutcome => {
  const { id: paymentId, status, last_payment_error: error } = intent
  if (status === 'succeeded') return { kind: 'succeeded', paymentId, fee: feeOf(intent) }
  if (status === 'processing') return { kind: 'waiting', paymentId }
  if (status === 'requires_action') return { kind: 'requires_action', paymentId }
  return { kind: 'declined', paymentId, code: error?.decline_code ?? error?.code ?? status }
}

/** A bank refuses with an error that holds the payment: https://docs.stripe.com/error-handling#payment-errors */
export const refusalOf = ({ code, decline_code, payment_intent }: Stripe.errors.StripeError): ChargeOutcome => {
  const paymentId = payment_intent?.id
  if (code === 'authentication_required') return { kind: 'requires_action', paymentId }
  return { kind: 'declined', paymentId, code: decline_code || code || 'unknown' }
}
