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
export const checkoutParameters = (given: Checkout, tax: TaxOptions): Stripe.Checkout.SessionCreateParams => {
  // A method that cannot be charged later is not kept.
  const checkout = { ...given, keepsMethod: given.keepsMethod && !tax.managedPayments }
  return {
    mode: 'payment',
    client_reference_id: checkout.purchaseId,
    metadata: metadataOf(checkout),
    line_items: [{ quantity: 1, price_data: priceOf(checkout) }],
    payment_intent_data: {
      metadata: metadataOf(checkout),
      ...(checkout.keepsMethod && { setup_future_usage: 'off_session' }),
    },
    ...customerOf(checkout),
    billing_address_collection: 'required',
    // Some accounts have it on by default, and no way to turn it off but this.
    managed_payments: { enabled: tax.managedPayments },
    ...(!tax.managedPayments && ownSale(checkout, tax)),
    success_url: checkout.successUrl,
    cancel_url: checkout.cancelUrl,
    expires_at: Math.floor(checkout.expiresAtMs / 1000),
  }
}

const priceOf = ({ name, description, money, taxCode }: Checkout) => ({
  currency: money.currency.toLowerCase(),
  unit_amount: toMinorUnits(money),
  // The customer pays what our own pages say, wherever the tax is higher or lower.
  tax_behavior: 'inclusive' as const,
  product_data: {
    name,
    ...(description !== undefined && { description }),
    ...(taxCode !== undefined && { tax_code: taxCode }),
  },
})

/**
 * What a seller decides. With managed payments, Stripe sells, and refuses these settings:
 * https://docs.stripe.com/payments/managed-payments/update-checkout
 */
const ownSale = ({ customerId }: Checkout, { automaticTax }: TaxOptions): Stripe.Checkout.SessionCreateParams => ({
  automatic_tax: { enabled: automaticTax },
  invoice_creation: { enabled: true },
  tax_id_collection: { enabled: true },
  // The tax follows from the address that the customer gives this time.
  ...(customerId !== undefined && { customer_update: { address: 'auto', name: 'auto' } }),
})

const customerOf = ({ customerId, email, keepsMethod }: Checkout): Stripe.Checkout.SessionCreateParams => {
  if (customerId !== undefined) return { customer: customerId }
  return {
    ...(email !== undefined && { customer_email: email }),
    ...(keepsMethod && { customer_creation: 'always' }),
  }
}
