import type { Stripe } from 'stripe'
import { addCharge, type Payer, settle } from './charges.ts'
import { cardError, invalid } from './errors.ts'
import type { Tell } from './events.ts'
import type { Parameters } from './form.ts'
import { allow, amountOf, currencyOf, flagOf, metadataOf, requiredText, textOf, within } from './parameters.ts'
import { nulls, type Store } from './store.ts'

/** What a bank does with a payment. `authentication`: it wants the owner of the card. */
export type Card = 'ok' | 'declined' | 'async' | 'authentication'

type NewIntent = Pick<Stripe.PaymentIntent, 'amount' | 'currency' | 'metadata' | 'customer' | 'payment_method'> &
  Partial<Pick<Stripe.PaymentIntent, 'description' | 'setup_future_usage' | 'managed_payments'>>

/** https://docs.stripe.com/api/payment_intents/object */
export const addIntent = (store: Store, given: NewIntent): Stripe.PaymentIntent => {
  const id = store.idOf('payment_intent')
  return store.add({
    ...nulls('allowed_payment_method_types', 'application', 'application_fee_amount', 'canceled_at', 'review'),
    ...nulls('cancellation_reason', 'customer_account', 'description', 'excluded_payment_method_types', 'shipping'),
    ...nulls('last_payment_error', 'latest_charge', 'managed_payments', 'next_action', 'on_behalf_of', 'source'),
    ...nulls('payment_method_configuration_details', 'payment_method_options', 'payment_record', 'processing'),
    ...nulls('receipt_email', 'setup_future_usage', 'statement_descriptor', 'statement_descriptor_suffix'),
    ...nulls('transfer_group'),
    id,
    object: 'payment_intent',
    amount_capturable: 0,
    amount_received: 0,
    automatic_payment_methods: { enabled: true },
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_stub`,
    confirmation_method: 'automatic',
    created: store.now(),
    livemode: store.isLive,
    payment_method_types: ['card'],
    status: 'requires_payment_method',
    ...given,
  })
}

/** https://docs.stripe.com/declines/codes */
const DECLINE = {
  code: 'card_declined',
  decline_code: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
}

/** https://docs.stripe.com/error-codes#authentication-required */
const AUTHENTICATE = {
  ...{ code: 'authentication_required', decline_code: 'authentication_required' },
  message: 'Your card was declined. This transaction requires authentication.',
}

/** Tries to pay: https://docs.stripe.com/payments/paymentintents/lifecycle. Returns the bank's refusal, if any. */
export const attempt = (
  store: Store,
  tell: Tell,
  intent: Stripe.PaymentIntent,
  payer: Payer,
  card: Card,
): typeof DECLINE | undefined => {
  const refusal = card === 'declined' ? DECLINE : card === 'authentication' ? AUTHENTICATE : undefined
  const status = refusal ? 'failed' : card === 'async' ? 'pending' : 'succeeded'
  const charge = addCharge(store, intent, payer, status)
  intent.latest_charge = charge.id
  if (refusal) {
    Object.assign(charge, { failure_code: refusal.code, failure_message: refusal.message })
    const error = { type: 'card_error', charge: charge.id, ...refusal } as Stripe.PaymentIntent.LastPaymentError
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error, payment_method: null })
    tell('charge.failed', charge)
    tell('payment_intent.payment_failed', intent)
  } else if (status === 'pending') {
    intent.status = 'processing'
    tell('charge.pending', charge)
    tell('payment_intent.processing', intent)
  } else succeed(tell, intent, charge)
  return refusal
}

const succeed = (tell: Tell, intent: Stripe.PaymentIntent, charge: Stripe.Charge) => {
  Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, last_payment_error: null })
  tell('charge.succeeded', charge)
  tell('payment_intent.succeeded', intent)
}

/** The end of a payment that takes days. */
export const finish = (store: Store, tell: Tell, intent: Stripe.PaymentIntent, arrives: boolean) => {
  const charge = store.get('charge', intent.latest_charge as string)
  if (arrives) {
    settle(store, charge)
    return succeed(tell, intent, charge)
  }
  Object.assign(charge, { status: 'failed', failure_code: DECLINE.code, failure_message: DECLINE.message })
  const error = { type: 'card_error', ...DECLINE } as Stripe.PaymentIntent.LastPaymentError
  Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error })
  tell('charge.failed', charge)
  tell('payment_intent.payment_failed', intent)
}

const KNOWN = [
  ...['amount', 'currency', 'customer', 'payment_method', 'off_session', 'confirm', 'description', 'metadata'],
  ...['automatic_payment_methods', 'expand'],
]

/** Charges a kept method: https://docs.stripe.com/payments/save-and-reuse#charge-saved-payment-method */
export const createIntent = (
  store: Store,
  tell: Tell,
  given: Parameters,
  cardOf: (methodId: string) => Card,
): Stripe.PaymentIntent => {
  allow(given, KNOWN)
  const currency = currencyOf(given)
  const amount = amountOf(given, 'amount', currency)
  const customer = store.get('customer', requiredText(given, 'customer'), 'customer')
  const method = store.get('payment_method', requiredText(given, 'payment_method'), 'payment_method')
  const { allow_redirects } = within(given, 'automatic_payment_methods', ['enabled', 'allow_redirects'])
  if (!flagOf(given, 'confirm') || !flagOf(given, 'off_session') || allow_redirects !== 'never')
    throw invalid('The stub only charges kept methods, without redirects.')
  if (method.customer !== customer.id)
    throw invalid(`The provided PaymentMethod does not belong to the Customer ${customer.id}.`, {
      param: 'payment_method',
    })
  const metadata = metadataOf(given)
  const description = textOf(given, 'description') ?? null
  const ids = { customer: customer.id, payment_method: method.id }
  const intent = addIntent(store, { amount, currency, metadata, description, ...ids })
  tell('payment_intent.created', intent)
  const { name, email, address } = method.billing_details
  const payer = { name: name ?? '', email, address: address as Stripe.Address }
  const refusal = attempt(store, tell, intent, payer, cardOf(method.id))
  if (refusal) throw cardError({ ...refusal, payment_intent: structuredClone(intent) })
  return intent
}
