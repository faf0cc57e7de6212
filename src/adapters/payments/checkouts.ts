import type { Stripe } from 'stripe'
import type { Checkout } from '../../ports/payments.ts'
import { toMinorUnits } from './minor-units.ts'
import { metadataOf } from './objects.ts'

/** The party that owes the tax. */
export interface TaxOptions {
  /** Stripe sells to the customer, and owes the tax: https://docs.stripe.com/payments/managed-payments */
  managedPayments: boolean
  /** Stripe computes the tax that the operator owes: https://docs.stripe.com/payments/checkout/taxes */
  automaticTax: boolean
}

/** https://docs.stripe.com/api/checkout/sessions/create */
export const checkoutParameters = (
  checkout: Checkout,
  { managedPayments, automaticTax }: TaxOptions,
): Stripe.Checkout.SessionCreateParams => {
  const { email, purchaseId, successUrl, cancelUrl, expiresAtMs } = checkout
  const metadata = metadataOf(checkout)
  // With managed payments, a method cannot be charged later.
  const keepsMethod = checkout.keepsMethod && !managedPayments
  return {
    mode: 'payment',
    client_reference_id: purchaseId,
    metadata,
    line_items: [{ quantity: 1, price_data: priceOf(checkout) }],
    payment_intent_data: { metadata, ...(keepsMethod && { setup_future_usage: 'off_session' }) },
    ...(email !== undefined && { customer_email: email }),
    ...(keepsMethod && { customer_creation: 'always' }),
    billing_address_collection: 'required',
    // Some accounts have it on by default, and no way to turn it off but this.
    managed_payments: { enabled: managedPayments },
    // With managed payments, Stripe is the seller, and refuses these settings:
    // https://docs.stripe.com/payments/managed-payments/update-checkout
    ...(!managedPayments && {
      automatic_tax: { enabled: automaticTax },
      invoice_creation: { enabled: true },
      tax_id_collection: { enabled: true },
    }),
    success_url: successUrl,
    cancel_url: cancelUrl,
    expires_at: Math.floor(expiresAtMs / 1000),
  }
}

const priceOf = ({ name, money, taxCode }: Checkout) => ({
  currency: money.currency.toLowerCase(),
  unit_amount: toMinorUnits(money),
  // The customer pays what our own pages say, wherever the tax is higher or lower.
  tax_behavior: 'inclusive' as const,
  product_data: { name, ...(taxCode !== undefined && { tax_code: taxCode }) },
})
