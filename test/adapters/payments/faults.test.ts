import t from 'tap'
import { openStripe } from '../../../src/adapters/payments/stripe.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { PaymentsMisconfigured } from '../../../src/ports/payments.ts'
import { STRIPE_KEY } from '../../support/stripe/stub.ts'
import { deadAddress } from '../../support/vendors/vendor-parts.ts'
import { checkout, startPayments } from './support.ts'

const options = { secretKey: STRIPE_KEY, webhookSecrets: [], managedPayments: false, automaticTax: false }

t.test('a Stripe that is away, slow, busy or broken is unavailable', async t => {
  const inUse = { error: { type: 'idempotency_error', message: 'There is another request with this key.' } }
  const cases = [
    ['down', /^Stripe does not answer: UND_ERR_SOCKET$/, 2],
    ['hang', /^Stripe does not answer: ETIMEDOUT$/, 2],
    [2_000, /^Stripe does not answer: ETIMEDOUT$/, 2],
    ['error', /^Stripe does not answer: 500$/, 2],
    ['busy', /^Stripe does not answer: 429$/, 1],
    [{ status: 409, body: inUse }, /^Stripe does not answer: 409$/, 2],
    [{ status: 503, body: {} }, /^Stripe does not answer: something else does$/, 2],
    [{ status: 200, body: {} }, /^Stripe does not answer: something else does$/, 1],
    [{ status: 200, body: [] }, /^Stripe does not answer: something else does$/, 1],
  ] as const
  const meet = async ([fault, message, requests]: (typeof cases)[number]) => {
    const { stub, payments } = await startPayments(t, { timeoutMs: 300 })
    const given = checkout()
    stub.fail(fault)
    await t.rejects(payments.open(given), { name: 'Unavailable', message }, JSON.stringify(fault))
    t.equal(stub.requests.length, requests)
    await t.rejects(payments.find('cs_test_1'), Unavailable)
    await t.rejects(payments.check(), Unavailable)
    await t.rejects(payments.refundsOf('pi_1'), Unavailable)
    stub.recover()
    t.match(await payments.open(given), { sessionId: /^cs_test_/ })
  }
  await Promise.all(cases.map(meet))
})

t.test('a fault that passes is not noticed', async t => {
  const { stub, payments } = await startPayments(t)
  for (const [index, fault] of (['down', 'error', 'lost'] as const).entries()) {
    stub.fail(fault, 1)
    t.match(await payments.open(checkout({ purchaseId: `pur_${index}` })), { sessionId: /^cs_test_/ }, fault)
  }
  t.equal(stub.store.all('checkout.session').length, 3)
})

t.test('an address where nobody listens, or that is no Stripe', async t => {
  const nobody = await openStripe({ ...options, url: await deadAddress() })
  await t.rejects(nobody.find('cs_test_1'), { name: 'Unavailable', message: 'Stripe does not answer: ECONNREFUSED' })
  const page = await openStripe({ ...options, fetch: async () => new Response('<h1>Hello</h1>') })
  await t.rejects(page.find('cs_test_1'), { name: 'Unavailable', message: /^Stripe does not answer: / })
})

t.test('a redirect is not followed, since it would get the key', async t => {
  let asked = 0
  const payments = await openStripe({
    ...options,
    fetch: async (_, init) => {
      asked += 1
      t.equal(init?.redirect, 'error')
      throw new TypeError('unexpected redirect')
    },
  })
  await t.rejects(payments.find('cs_test_1'), Unavailable)
  t.equal(asked, 2)
})

t.test('a wrong key is named, and never shown', async t => {
  const secretKey = 'sk_test_wrong0123456789'
  const { stub, payments } = await startPayments(t, { secretKey })
  for (const call of [
    () => payments.check(),
    () => payments.open(checkout()),
    () => payments.find('cs_test_1'),
    () => payments.refundsOf('pi_1'),
  ]) {
    const error = await call().catch(error => error)
    t.ok(error instanceof PaymentsMisconfigured)
    t.match(error.message, /^Stripe refuses STRIPE_SECRET_KEY; set a secret key of your account \(request req_\w+\)$/)
    t.notMatch(JSON.stringify(error) + error.stack, '6789')
  }
  stub.fail({ status: 403, body: { error: { type: 'invalid_request_error', message: 'no permission' } } })
  await t.rejects(payments.find('cs_test_1'), {
    name: 'PaymentsMisconfigured',
    message: /does not have the permission/,
  })
})
