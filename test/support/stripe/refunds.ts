import type { Stripe } from 'stripe'
import { addTransaction } from './charges.ts'
import { invalid } from './errors.ts'
import type { Tell } from './events.ts'
import type { Parameters } from './form.ts'
import { allow, amountOf, metadataOf, requiredText } from './parameters.ts'
import { nulls, type Store } from './store.ts'

/** https://docs.stripe.com/api/refunds/create. A refund by card succeeds at once; others take days. */
export const createRefund = (
  store: Store,
  tell: Tell,
  given: Parameters,
  status: 'succeeded' | 'pending',
): Stripe.Refund => {
  allow(given, ['payment_intent', 'amount', 'metadata', 'expand'])
  const intent = store.get('payment_intent', requiredText(given, 'payment_intent'), 'payment_intent')
  const charge = intent.latest_charge === null ? undefined : store.get('charge', intent.latest_charge as string)
  if (!charge?.paid) throw invalid('This PaymentIntent does not have a successful charge to refund.')
  const left = charge.amount - charge.amount_refunded
  // https://docs.stripe.com/error-codes#charge-already-refunded and #charge-disputed
  if (left === 0) throw invalid(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' })
  if (charge.disputed) throw invalid(`Charge ${charge.id} has been charged back.`, { code: 'charge_disputed' })
  const amount = given['amount'] === undefined ? left : amountOf(given, 'amount', charge.currency, 1)
  if (amount > left)
    throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
      param: 'amount',
    })
  charge.amount_refunded += amount
  charge.refunded = charge.amount_refunded === charge.amount
  const id = store.idOf('refund')
  const { currency } = charge
  const transaction = addTransaction(store, { amount: -amount, fee: 0, currency, type: 'refund', source: id })
  const refund = store.add({
    ...nulls('customer_account', 'reason', 'receipt_number', 'source_transfer_reversal', 'transfer_reversal'),
    ...{ id, object: 'refund', amount, currency, status, charge: charge.id, payment_intent: intent.id },
    balance_transaction: transaction.id,
    created: store.now(),
    customer: charge.customer,
    metadata: metadataOf(given),
    payment_method: charge.payment_method,
  })
  tell('refund.created', refund)
  tell('charge.refunded', charge)
  return refund
}

/** The end of a refund that takes days. */
export const succeedRefund = (store: Store, tell: Tell, id: string) => {
  const refund = store.get('refund', id)
  refund.status = 'succeeded'
  tell('refund.updated', refund)
}

/** The bank sends the money back, even after a success: https://docs.stripe.com/refunds#failed-refunds */
export const failRefund = (store: Store, tell: Tell, id: string) => {
  const refund = store.get('refund', id)
  const charge = store.get('charge', refund.charge as string)
  charge.amount_refunded -= refund.amount
  charge.refunded = false
  const { amount, currency } = refund
  const transaction = addTransaction(store, { amount, fee: 0, currency, type: 'refund_failure', source: id })
  const failed = { failure_balance_transaction: transaction.id, failure_reason: 'expired_or_canceled_card' }
  Object.assign(refund, { status: 'failed', ...failed })
  tell('refund.updated', refund)
  tell('refund.failed', refund)
}
