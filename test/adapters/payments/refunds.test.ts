import t, { type Test } from 'tap'
import { checkout, purchase, startPayments } from './support.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' })

const startPaid = async (t: Test) => {
  const { stub, payments } = await startPayments(t)
  const { sessionId } = await payments.open(checkout())
  stub.pay(sessionId)
  const paymentId = stub.session(sessionId).payment_intent as string
  const refund = (refundKey: string, amount: string) =>
    payments.refund({ ...purchase, refundKey, paymentId, money: eur(amount) })
  return { stub, payments, paymentId, refund }
}

t.test('parts of a payment are paid back, each once', async t => {
  const { stub, payments, paymentId, refund } = await startPaid(t)
  stub.fail('lost', 1)
  const first = await refund('ref_1', '5.00')
  t.match(first, { refundId: /^re_/, paymentId, money: eur('5.00'), status: 'succeeded', refundKey: 'ref_1' })
  t.same(await refund('ref_1', '5.00'), first)
  const second = await refund('ref_2', '2.50')
  const byHand = stub.refund(paymentId, 100)
  t.same(await payments.refundsOf(paymentId), [
    { ...{ refundId: byHand.id, paymentId, money: eur('1.00'), status: 'succeeded', refundKey: undefined } },
    second,
    first,
  ])
  await t.rejects(refund('ref_3', '4.01'), { name: 'PaymentRefused', message: /greater than unrefunded amount/ })
  t.match(await refund('ref_4', '4.00'), { status: 'succeeded' })
  await t.rejects(refund('ref_5', '0.01'), { name: 'PaymentRefused', code: 'charge_already_refunded' })
})

t.test('all refunds of a payment are found, page by page', async t => {
  const { stub, payments, paymentId } = await startPaid(t)
  for (let count = 0; count < 101; count++) stub.refund(paymentId, 1)
  t.equal((await payments.refundsOf(paymentId)).length, 101)
})

t.test('a refund may wait, fail and be cancelled', async t => {
  const { stub, payments, paymentId, refund } = await startPaid(t)
  stub.refundsWait = true
  const { refundId, status } = await refund('ref_1', '12.50')
  t.equal(status, 'pending')
  stub.succeedRefund(refundId)
  t.match(await payments.refundsOf(paymentId), [{ status: 'succeeded' }])
  stub.failRefund(refundId)
  t.match(await payments.refundsOf(paymentId), [{ status: 'failed' }])
  const again = await refund('ref_2', '12.50')
  stub.store.get('refund', again.refundId).status = 'canceled'
  t.match(await payments.refundsOf(paymentId), [{ status: 'cancelled' }])
  stub.store.get('refund', again.refundId).status = 'requires_action'
  t.match(await payments.refundsOf(paymentId), [{ status: 'pending' }])
  t.match(await payments.refundsOf(paymentId), [{ refundKey: 'ref_2' }, { refundKey: 'ref_1' }])
})

t.test('a disputed payment is not refunded', async t => {
  const { stub, payments, paymentId, refund } = await startPaid(t)
  const { id } = stub.dispute(paymentId)
  const dispute = { disputeId: id, paymentId, money: eur('12.50') }
  t.same(await payments.findDispute(id), { ...dispute, status: 'open' })
  await t.rejects(refund('ref_1', '1.00'), { name: 'PaymentRefused', code: 'charge_disputed' })
  stub.closeDispute(id, 'lost')
  t.same(await payments.findDispute(id), { ...dispute, status: 'lost' })
  stub.store.get('dispute', id).status = 'appeal_under_review'
  t.same(await payments.findDispute(id), { ...dispute, status: 'open' })
  stub.closeDispute(id, 'won')
  t.same(await payments.findDispute(id), { ...dispute, status: 'won' })
})

t.test('an inquiry is no dispute yet', async t => {
  const { stub, payments, paymentId } = await startPaid(t)
  const { id } = stub.dispute(paymentId, { isInquiry: true, amount: 500 })
  t.equal(await payments.findDispute(id), undefined)
  stub.escalate(id)
  t.match(await payments.findDispute(id), { money: eur('5.00'), status: 'open' })
})
