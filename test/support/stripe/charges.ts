import type { Stripe } from 'stripe'
import { nulls, type Store } from './store.ts'

/** The share and the part of a payment that the stub keeps, in the smallest unit. */
const FEE_SHARE = 0.015
const FEE_UNITS = 25

type Transaction = Pick<Stripe.BalanceTransaction, 'amount' | 'fee' | 'currency' | 'type' | 'source'>

/** https://docs.stripe.com/api/balance_transactions/object */
export const addTransaction = (store: Store, { amount, fee, currency, type, source }: Transaction) =>
  store.add({
    ...nulls('description', 'exchange_rate'),
    id: store.idOf('balance_transaction'),
    object: 'balance_transaction',
    ...{ amount, fee, currency, type, source, net: amount - fee },
    available_on: store.now(),
    balance_type: 'payments',
    created: store.now(),
    fee_details:
      fee === 0 ? [] : [{ amount: fee, application: null, currency, description: 'Stripe fees', type: 'stripe_fee' }],
    reporting_category: type === 'adjustment' ? 'dispute' : String(type),
    status: 'available',
  })

export interface Payer {
  name: string
  email: string | null
  address: Stripe.Address
}

/** Where the cards of all buyers are from. */
export const CARD_COUNTRY = 'IE'

/** Money that arrives, fails or is on its way: https://docs.stripe.com/api/charges/object */
export const addCharge = (
  store: Store,
  intent: Stripe.PaymentIntent,
  payer: Payer,
  status: 'succeeded' | 'pending' | 'failed',
): Stripe.Charge => {
  const { amount, currency } = intent
  const charge = store.add({
    ...nulls('application', 'application_fee', 'application_fee_amount', 'balance_transaction', 'fraud_details'),
    ...nulls('calculated_statement_descriptor', 'failure_balance_transaction', 'failure_code', 'failure_message'),
    ...nulls('on_behalf_of', 'outcome', 'receipt_email', 'receipt_number', 'receipt_url', 'review', 'shipping'),
    ...nulls('source', 'source_transfer', 'statement_descriptor', 'statement_descriptor_suffix', 'transfer_data'),
    ...nulls('transfer_group'),
    id: store.idOf('charge'),
    object: 'charge',
    ...{ amount, currency, status, amount_captured: status === 'succeeded' ? amount : 0, amount_refunded: 0 },
    billing_details: { ...payer, phone: null, tax_id: null },
    captured: status === 'succeeded',
    created: store.now(),
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    livemode: store.isLive,
    // Stripe copies the metadata of the payment intent.
    metadata: { ...intent.metadata },
    paid: status === 'succeeded',
    payment_intent: intent.id,
    payment_method: intent.payment_method as string,
    payment_method_details: {
      type: 'card',
      card: { country: CARD_COUNTRY } as Stripe.Charge.PaymentMethodDetails.Card,
    },
    refunded: false,
  })
  if (status === 'succeeded') settle(store, charge)
  return charge
}

/** The money has arrived, and the fee is known. */
export const settle = (store: Store, charge: Stripe.Charge) => {
  const { amount, currency, id } = charge
  const fee = Math.round(amount * FEE_SHARE) + FEE_UNITS
  const transaction = addTransaction(store, { amount, fee, currency, type: 'charge', source: id })
  const settled: Partial<Stripe.Charge> = { status: 'succeeded', captured: true, paid: true, amount_captured: amount }
  Object.assign(charge, { ...settled, balance_transaction: transaction.id })
}
