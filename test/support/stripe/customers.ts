import type { Stripe } from 'stripe'
import type { Payer } from './charges.ts'
import { nulls, type Store } from './store.ts'

/** https://docs.stripe.com/api/customers/object */
export const addCustomer = (store: Store, { name, email, address }: Payer): Stripe.Customer =>
  store.add({
    ...nulls('default_source', 'description', 'shipping'),
    ...{ id: store.idOf('customer'), object: 'customer', balance: 0, created: store.now(), name, email, address },
    invoice_settings: nulls('custom_fields', 'default_payment_method', 'footer', 'rendering_options'),
    livemode: store.isLive,
    metadata: {},
  } as Stripe.Customer)

/** A card that somebody has typed in: https://docs.stripe.com/api/payment_methods/object */
export const addMethod = (store: Store, payer: Payer): Stripe.PaymentMethod =>
  store.add({
    ...nulls('customer', 'customer_account'),
    id: store.idOf('payment_method'),
    object: 'payment_method',
    billing_details: { ...payer, phone: null, tax_id: null },
    created: store.now(),
    livemode: store.isLive,
    metadata: {},
    type: 'card',
  })

/** The paid invoice of a checkout: https://docs.stripe.com/payments/checkout/receipts#paid-invoices */
export const addInvoice = (store: Store, session: Stripe.Checkout.Session, baseUrl: string): Stripe.Invoice => {
  const id = store.idOf('invoice')
  const total = session.amount_total ?? 0
  // The fields of https://docs.stripe.com/api/invoices/object that concern a payment.
  const invoice = {
    ...{ id, object: 'invoice', currency: session.currency, customer: session.customer, livemode: store.isLive },
    ...{ total, subtotal: session.amount_subtotal, amount_due: total, amount_paid: total, amount_remaining: 0 },
    ...{ billing_reason: 'manual', collection_method: 'charge_automatically', created: store.now() },
    ...{ status: 'paid', metadata: {}, customer_email: session.customer_details?.email ?? null },
    number: `STUB-${String(store.all('invoice').length + 1).padStart(4, '0')}`,
    hosted_invoice_url: `${baseUrl}/i/${id}`,
    invoice_pdf: `${baseUrl}/i/${id}/pdf`,
  }
  return store.add(invoice as unknown as Stripe.Invoice & { object: 'invoice' })
}
