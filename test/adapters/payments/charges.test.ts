import t, { type Test } from 'tap'
import { parseForm } from '../../support/stripe/form.ts'
import { checkout, purchase, startPayments } from './support.ts'

const startKept = async (t: Test) => {
  const { stub, payments } = await startPayments(t)
  const { sessionId } = await payments.open(checkout({ keepsMethod: true }))
  stub.pay(sessionId)
  const { paid } = (await payments.find(sessionId)) ?? {}
  const { customerId = '', methodId = '' } = paid ?? {}
  const charge = (chargeKey: string, changes = {}) =>
    payments.charge({
      ...{ ...purchase, chargeKey, customerId, methodId, description: '500 credits' },
      ...{ money: { amount: '10.00', currency: 'EUR' }, ...changes },
    })
  return { stub, payments, customerId, methodId, charge }
}

t.test('a kept method is charged once a key', async t => {
  const { stub, payments, customerId, methodId, charge } = await startKept(t)
  stub.fail('lost', 1)
  const outcome = await charge('pur_2')
  t.match(outcome, { kind: 'succeeded', paymentId: /^pi_/ })
  t.same(await charge('pur_2'), outcome)
  t.equal(stub.store.all('payment_intent').length, 2)
  t.same(parseForm(stub.requests.at(-1)?.body ?? ''), {
    ...{ amount: '1000', currency: 'eur', customer: customerId, payment_method: methodId },
    ...{ description: '500 credits', off_session: 'true', confirm: 'true' },
    automatic_payment_methods: { enabled: 'true', allow_redirects: 'never' },
    metadata: { purchase: 'pur_1', account: 'acct_1', top_up: 'pur_2' },
  })
  t.same(await payments.paymentOf('paymentId' in outcome ? String(outcome.paymentId) : ''), {
    ...purchase,
    fee: { amount: '0.40', currency: 'EUR' },
  })
})

t.test('a bank declines, asks for the owner, or takes days', async t => {
  const { stub, payments, customerId, methodId, charge } = await startKept(t)
  stub.setCard(methodId, 'declined')
  const declined = await charge('pur_2')
  t.match(declined, { kind: 'declined', code: 'insufficient_funds' })
  stub.setCard(methodId, 'ok')
  t.same(await charge('pur_2'), declined, 'the same key has the same outcome')
  stub.setCard(methodId, 'authentication')
  t.match(await charge('pur_3'), { kind: 'declined', code: 'authentication_required' })
  stub.setCard(methodId, 'async')
  t.match(await charge('pur_4'), { kind: 'waiting' })
  t.same(await payments.findCharge(customerId, 'pur_2'), declined)
  t.match(await payments.findCharge(customerId, 'pur_4'), { kind: 'waiting' })
  t.equal(await payments.findCharge(customerId, 'pur_5'), undefined)
})

t.test('a method of somebody else is refused', async t => {
  const { charge } = await startKept(t)
  await t.rejects(charge('pur_2', { methodId: 'pm_none' }), { name: 'PaymentRefused', code: 'resource_missing' })
  await t.rejects(charge('pur_3', { customerId: 'cus_none' }), { name: 'PaymentRefused', code: 'resource_missing' })
})
