import t from 'tap'
import type { Balance } from '../../../schemas/api/balance.ts'
import type { Purchase } from '../../../schemas/api/purchase.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { caughtUp } from '../../support/caught-up.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { auditLog } from '../../support/ledger.ts'
import { startSales } from '../../support/sales.ts'
import { seededRandom, testSeed } from '../../support/seeded-random.ts'
import { instantProvider, openAccount } from '../../support/service.ts'
import type { StubEvent } from '../../support/stripe/events.ts'
import { unwrap } from '../../support/unwrap.ts'
import { verified } from '../../support/verified.ts'

const seed = testSeed()
const random = seededRandom(seed)

const sales = await startSales(t, { providers: { sandbox: instantProvider } })
const { stripe, reports, ...service } = sales
const operator = { kind: 'operator', name: 'test' } as const

/** A customer who has paid for 100 credits, of which some runs have used 10 each. */
const buyer = async ({ runs = 0, of: { stripe, reports, ...service } = sales } = {}) => {
  const customer = await openAccount(service, { credits: 0 })
  const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, credits: 100 })
  const sessionId = /cs_\w+/.exec(purchase.url as string)?.[0] as string
  stripe.pay(sessionId)
  await reports.settled()
  for (let run = 0; run < runs; run++) t.equal((await customer.run(picture)).status, 200)
  const state = async () => {
    const { body } = await customer.send<Balance>('/v1/balance')
    return [body.credits_balance, body.credits_owed ?? 0]
  }
  return { customer, purchase, state, paymentId: String(stripe.session(sessionId).payment_intent) }
}

/** Reports all that happens at Stripe in an order of chance, and each event three times. */
const shuffled = async (happen: () => void) => {
  reports.isHeld = true
  happen()
  reports.times = 3
  reports.release(events =>
    events
      .map(event => [random(), event] as const)
      .toSorted(byNumber)
      .map(([, event]) => event),
  )
  await reports.settled()
  reports.times = 1
}

const byNumber = ([one]: readonly [number, StubEvent], [other]: readonly [number, StubEvent]) => one - other

t.test(`disputes before, during and after use (TEST_SEED=${seed})`, async t => {
  const before = await buyer()
  const during = await buyer({ runs: 4 })
  const after = await buyer({ runs: 10 })
  const disputes: string[] = []
  await shuffled(() => {
    for (const { paymentId } of [before, during, after]) disputes.push(stripe.dispute(paymentId).id)
  })
  t.same(await Promise.all([before, during, after].map(({ state }) => state())), [
    [0, 0],
    [0, 40],
    [0, 100],
  ])
  t.equal((await before.customer.run(picture)).status, 402)
  t.equal((await after.customer.run(picture)).status, 402)
  await shuffled(() => {
    for (const id of disputes) stripe.closeDispute(id, 'won')
  })
  t.same(await Promise.all([before, during, after].map(({ state }) => state())), [
    [100, 0],
    [60, 0],
    [0, 0],
  ])
})

t.test('a dispute that is won before anything was reported changes nothing', async t => {
  const { paymentId, state } = await buyer({ runs: 3 })
  await shuffled(() => stripe.closeDispute(stripe.dispute(paymentId).id, 'won'))
  t.same(await state(), [70, 0])
  await shuffled(() => stripe.closeDispute(stripe.dispute(paymentId).id, 'lost'))
  t.same(await state(), [0, 30])
})

t.test('an inquiry takes nothing until it becomes a dispute', async t => {
  const { paymentId, state } = await buyer()
  const inquiry = stripe.dispute(paymentId, { isInquiry: true })
  await reports.settled()
  t.same(await state(), [100, 0])
  await shuffled(() => stripe.escalate(inquiry.id))
  t.same(await state(), [0, 0])
})

t.test('what a dispute leaves owed is paid first by the next purchase, and by nothing twice', async t => {
  const { customer, paymentId, state } = await buyer({ runs: 10 })
  const { id } = stripe.dispute(paymentId)
  await reports.settled()
  const { body: next } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, credits: 150 })
  await shuffled(() => {
    stripe.pay(/cs_\w+/.exec(next.url as string)?.[0] as string)
  })
  t.same(await state(), [50, 0])
  await shuffled(() => stripe.closeDispute(id, 'won'))
  t.same(await state(), [150, 0])
})

t.test('partial refunds in any order add up, and those that fail return', async t => {
  const { paymentId, state, purchase, customer } = await buyer()
  // 1.25 EUR.
  const ids: string[] = []
  await shuffled(() => {
    for (const cents of [1, 33, 7, 59]) ids.push(stripe.refund(paymentId, cents).id)
  })
  t.same(await state(), [20, 0])
  await shuffled(() => {
    stripe.failRefund(String(ids[1]))
    stripe.refund(paymentId, 58)
  })
  t.same(await state(), [0, 0])
  const { body } = await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.equal(body.claims?.length, 5)
  await shuffled(() => {
    for (const id of [0, 2, 3].map(index => String(ids[index]))) stripe.failRefund(id)
  })
  const [balance = 0] = await state()
  t.equal(balance, 53.6)
})

t.test('a refund that fails before it was reported changes nothing', async t => {
  const { paymentId, state } = await buyer()
  await shuffled(() => stripe.failRefund(stripe.refund(paymentId, 50).id))
  t.same(await state(), [100, 0])
})

t.test('a refund and a dispute of the same payment take no more than it brought', async t => {
  const { paymentId, state } = await buyer()
  await shuffled(() => {
    stripe.refund(paymentId, 100)
    stripe.dispute(paymentId)
  })
  t.same(await state(), [0, 0])
})

t.test('a refund that fails because of a dispute leaves its credits to the dispute', async t => {
  const { customer, paymentId, purchase, state } = await buyer({ runs: 1 })
  stripe.refundsWait = true
  // 80 of 100 credits.
  const { id: refundId } = stripe.refund(paymentId, 100)
  stripe.refundsWait = false
  await reports.settled()
  const { id } = stripe.dispute(paymentId)
  await reports.settled()
  t.same(await state(), [0, 10])
  stripe.failRefund(refundId)
  await reports.settled()
  t.same(await state(), [0, 10])
  const { body } = await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.match(body.claims, [
    { kind: 'refund', id: refundId, reversed_at: String },
    { kind: 'dispute', id, amount: '1.25' },
    { kind: 'dispute', id: `${refundId} passed on`, amount: '0.00' },
  ])
  stripe.closeDispute(id, 'won')
  await reports.settled()
  t.same(await state(), [90, 0])
})

t.test('a dispute that is won, and then a refund, take the credits whichever is reported first', async t => {
  const { paymentId, state } = await buyer({ runs: 2 })
  const { id } = stripe.dispute(paymentId)
  await reports.settled()
  t.same(await state(), [0, 20])
  reports.isHeld = true
  stripe.closeDispute(id, 'won')
  // As Stripe allows after a dispute that was won.
  for (const charge of stripe.store.all('charge')) if (charge.payment_intent === paymentId) charge.disputed = false
  stripe.refund(paymentId)
  reports.release(events => events.toReversed())
  await reports.settled()
  t.same(await state(), [0, 0])
})

t.test('a refund that Stripe would refuse because of a dispute leaves the credits to the dispute', async t => {
  // It asks Stripe for no refund.
  const idle = await startSales(t, { environment: { ROLES: 'api,projector' } })
  const { customer, paymentId, state, purchase } = await buyer({ of: idle })
  // The operator's view of a purchase follows the log.
  await caughtUp(idle.core)
  unwrap(await idle.core.services.purchaseRefunds.refund(operator, purchase.id, { amount: '0.50', reason: 'asked' }))
  t.same(await state(), [60, 0])
  const { id } = idle.stripe.dispute(paymentId)
  await idle.reports.settled()
  const { body } = await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.match(body.claims, [{ kind: 'refund', reversed_at: String }, { kind: 'dispute' }])
  t.same(await state(), [0, 0])
  idle.stripe.closeDispute(id, 'won')
  await idle.reports.settled()
  t.same(await state(), [100, 0])
})

t.test('a claim that is reported before its payment brings the payment first', async t => {
  const customer = await openAccount(service, { credits: 0 })
  const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, credits: 100 })
  const sessionId = /cs_\w+/.exec(purchase.url as string)?.[0] as string
  reports.isHeld = true
  stripe.pay(sessionId)
  stripe.refund(String(stripe.session(sessionId).payment_intent), 25)
  reports.release(events => events.toReversed())
  await reports.settled()
  t.equal(await customer.balance(), 80)
})

t.test('the log has no fault', async t => {
  const { log } = service.core
  t.same((await auditLog(log)).faults, [])
  t.same((await verified(await collect(log.readAll(BEFORE_FIRST)), { isDense: true })).faults, [])
})
