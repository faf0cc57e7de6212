import type { Stripe } from 'stripe'
import type {
  Address,
  CheckoutState,
  Dispute,
  Invoice,
  Money,
  PaidCheckout,
  PaymentFacts,
  PurchaseOf,
  Refund,
} from '../../ports/payments.ts'
import { fromMinorUnits } from './minor-units.ts'

// Stripe's objects in our own words. Events may come in the form of an older version of the API, so that fields which
// the types promise can be missing.

/** The metadata that makes an object ours. */
export const metadataOf = ({ purchaseId, accountId }: PurchaseOf) => ({ purchase: purchaseId, account: accountId })

export const purchaseOf = (metadata: Stripe.Metadata | null | undefined): PurchaseOf | undefined => {
  const { purchase: purchaseId, account: accountId } = metadata ?? {}
  return purchaseId && accountId ? { purchaseId, accountId } : undefined
}

/** The id of an object that Stripe sends as an id or, on request, whole. */
export const idOf = (reference: string | { id: string } | null | undefined): string | undefined =>
  typeof reference === 'string' ? reference : reference?.id

const wholeOf = <Whole extends object>(reference: string | Whole | null | undefined): Whole | undefined =>
  typeof reference === 'object' && reference !== null ? reference : undefined

/** The part of a payment that `feeOf` needs whole. */
export const FEE = 'latest_charge.balance_transaction'

/** The parts of a session that `checkoutOf` needs whole. */
export const EXPANDED = ['invoice', `payment_intent.${FEE}`]

/** https://docs.stripe.com/api/checkout/sessions/object */
export const checkoutOf = (session: Stripe.Checkout.Session): CheckoutState | undefined => {
  const purchase = purchaseOf(session.metadata)
  return purchase && { ...purchase, ...openOf(session), sessionId: session.id, paid: paidOf(session) }
}

const openOf = ({ status, url }: Stripe.Checkout.Session): Pick<CheckoutState, 'status' | 'url'> => {
  if (status === 'complete') return { status: 'complete', url: undefined }
  return status === 'expired' ? { status: 'expired', url: undefined } : { status: 'open', url: url ?? undefined }
}

/** A free checkout needs no payment: https://docs.stripe.com/payments/checkout/no-cost-orders */
export const isPaid = ({ status, payment_status }: Stripe.Checkout.Session): boolean =>
  status === 'complete' && (payment_status === 'paid' || payment_status === 'no_payment_required')

const paidOf = (session: Stripe.Checkout.Session): PaidCheckout | undefined => {
  if (!isPaid(session)) return undefined
  const intent = wholeOf(session.payment_intent)
  const invoice = wholeOf(session.invoice)
  const isKept = intent?.setup_future_usage === 'off_session'
  return {
    ...factsOf(session),
    invoice: invoice && invoiceOf(invoice),
    fee: intent && feeOf(intent),
    methodId: isKept ? idOf(intent.payment_method) : undefined,
  }
}

export const factsOf = (session: Stripe.Checkout.Session): PaymentFacts => {
  const { id, currency, amount_total, total_details, customer_details } = session
  const country = customer_details?.address?.country ?? undefined
  return {
    paymentId: idOf(session.payment_intent) ?? id,
    money: moneyOf(amount_total, currency),
    tax: moneyOf(total_details?.amount_tax ?? 0, currency),
    country,
    address: customer_details ? addressOf(customer_details) : undefined,
    cardCountry: cardOf(session)?.country ?? undefined,
    hasTaxId: (customer_details?.tax_ids ?? []).length > 0,
    customerId: idOf(session.customer),
    invoiceId: idOf(session.invoice),
  }
}

/** The most that is an amount, in Stripe's units: twelve digits. */
const MAX_UNITS = 1e12 - 1

/** Money that was paid or claimed. Throws a RangeError for anything else. */
const moneyOf = (units: number | null, currency: string | null): Money => {
  const isAmount = Number.isInteger(units) && Number(units) >= 0 && Number(units) <= MAX_UNITS
  if (!isAmount || !currency) throw new RangeError(`${units} ${currency} is no amount of money`)
  return fromMinorUnits(Number(units), currency)
}

/** https://docs.stripe.com/api/charges/object#charge_object-payment_method_details-card */
const cardOf = ({ payment_intent }: Stripe.Checkout.Session) =>
  wholeOf(wholeOf(payment_intent)?.latest_charge)?.payment_method_details?.card

const addressOf = ({ name, address }: Stripe.Checkout.Session.CustomerDetails): Address | undefined => {
  const lines = {
    name,
    line1: address?.line1,
    line2: address?.line2,
    postalCode: address?.postal_code,
    city: address?.city,
    state: address?.state,
    country: address?.country,
  }
  const given = Object.entries(lines).filter(([, line]) => line)
  return given.length > 0 ? Object.fromEntries(given) : undefined
}

/** https://docs.stripe.com/api/invoices/object */
const invoiceOf = ({ id, number, hosted_invoice_url, invoice_pdf }: Stripe.Invoice): Invoice => ({
  id,
  number: number ?? undefined,
  url: hosted_invoice_url ?? undefined,
  pdfUrl: invoice_pdf ?? undefined,
})

/** The fee of Stripe: https://docs.stripe.com/api/balance_transactions/object. Known some time after the payment. */
export const feeOf = (intent: Stripe.PaymentIntent): Money | undefined => {
  const transaction = wholeOf(wholeOf(intent.latest_charge)?.balance_transaction)
  return transaction && fromMinorUnits(transaction.fee, transaction.currency)
}

/** https://docs.stripe.com/api/refunds/object. Undefined if it belongs to no payment. */
export const refundOf = (refund: Stripe.Refund): Refund | undefined => {
  const paymentId = idOf(refund.payment_intent)
  if (paymentId === undefined) return undefined
  return {
    refundId: refund.id,
    paymentId,
    money: moneyOf(refund.amount, refund.currency),
    status: refundStatusOf(refund.status),
    // Other tools of the operator may write metadata of their own.
    refundKey: purchaseOf(refund.metadata) && refund.metadata?.['refund'],
  }
}

const refundStatusOf = (status: string | null): Refund['status'] => {
  if (status === 'succeeded' || status === 'failed') return status
  // Others wait for somebody, such as `requires_action`.
  return status === 'canceled' ? 'cancelled' : 'pending'
}

/**
 * https://docs.stripe.com/api/disputes/object. Undefined for an inquiry, which takes no money yet and may become a
 * dispute with the same id: https://docs.stripe.com/disputes/how-disputes-work#inquiries
 */
export const disputeOf = (dispute: Stripe.Dispute): Dispute | undefined => {
  const paymentId = idOf(dispute.payment_intent)
  const status = disputeStatusOf(dispute.status)
  if (paymentId === undefined || status === undefined) return undefined
  return { disputeId: dispute.id, paymentId, money: moneyOf(dispute.amount, dispute.currency), status }
}

const disputeStatusOf = (status: Stripe.Dispute.Status): Dispute['status'] | undefined => {
  if (status === 'won') return 'won'
  if (status === 'lost') return 'lost'
  return status.startsWith('warning_') || status === 'prevented' ? undefined : 'open'
}
