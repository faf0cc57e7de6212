import t from 'tap'
import { readConfig } from '../../src/boot/read-config.ts'
import { openPayments } from '../../src/boot/stores.ts'
import { checkout } from '../adapters/payments/support.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { STRIPE_KEY, startStripe, WEBHOOK_SECRET } from '../support/stripe/stub.ts'

const keys = { STRIPE_SECRET_KEY: STRIPE_KEY, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET }

t.test('sales are off without a key', async t => {
  t.equal(await openPayments(readConfig({})), undefined)
})

t.test('sales go to the configured address', async t => {
  const stub = await startStripe(t)
  const payments = await openPayments(readConfig({ ...keys, STRIPE_URL: stub.url, MANAGED_PAYMENTS: 'true' }))
  t.match(await payments?.open(checkout({ taxCode: 'txcd_10103001' })), { sessionId: /^cs_test_/ })
  t.match(stub.requests, [{ body: /managed_payments\[enabled\]=true/ }])
})

t.test('Stripe itself is reached through a proxy', async t => {
  const proxy = await startConnectProxy(t, 1)
  proxy.status = 403
  const payments = await openPayments(readConfig({ ...keys, HTTPS_PROXY: proxy.url }))
  const found = async () => payments?.find('cs_test_1')
  await t.rejects(found, { name: 'Unavailable', message: /^Stripe does not answer: / })
  t.match(proxy.seen, [{ authority: 'api.stripe.com:443' }, { authority: 'api.stripe.com:443' }])
})
