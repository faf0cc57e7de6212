import type { Test } from 'tap'
import { openStripe, type StripeOptions } from '../../../src/adapters/payments/stripe.ts'
import type { Checkout } from '../../../src/ports/payments.ts'
import { STRIPE_KEY, startStripe, WEBHOOK_SECRET } from '../../support/stripe/stub.ts'

export const purchase = { purchaseId: 'pur_1', accountId: 'acct_1' }

export const checkout = (changes: Partial<Checkout> = {}): Checkout => ({
  ...purchase,
  name: '500 credits',
  money: { amount: '12.50', currency: 'EUR' },
  email: 'ada@example.com',
  successUrl: 'https://tollgate.example/console/bought?session={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://tollgate.example/console/buy',
  expiresAtMs: (Math.floor(Date.now() / 1000) + 3600) * 1000,
  keepsMethod: false,
  ...changes,
})

/** The adapter with the real package, against a stub of Stripe. */
export const startPayments = async (t: Test, changes: Partial<StripeOptions> = {}) => {
  const stub = await startStripe(t)
  const options: StripeOptions = {
    ...{ secretKey: STRIPE_KEY, webhookSecrets: [WEBHOOK_SECRET], url: stub.url },
    ...{ managedPayments: false, automaticTax: false, ...changes },
  }
  return { stub, payments: await openStripe(options) }
}
