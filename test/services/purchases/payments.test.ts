import t, { type Test } from 'tap'
import type { Balance } from '../../../schemas/api/balance.ts'
import type { Purchase } from '../../../schemas/api/purchase.ts'
import { accountStream } from '../../../schemas/events.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { collect } from '../../support/collect.ts'
import { SkippingClock } from '../../support/manual-clock.ts'
import { startSales } from '../../support/sales.ts'
import { type Customer, instantProvider, openAccount } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'

const HOUR_MS = 60 * 60 * 1000

const operator = { kind: 'operator', name: 'ada' } as const

/** A service whose hours pass at the test's wish, and to which Stripe reports nothing. */
const start = async (t: Test) => {
  const clock = new SkippingClock(Date.now())
  const sales = await startSales(t, { clock, providers: { sandbox: instantProvider } })
  sales.reports.isHeld = true
  const customer = await openAccount(sales, { credits: 1 })
  const open = async () => {
    const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
    return { purchase, sessionId: /cs_\w+/.exec(purchase.url as string)?.[0] as string }
  }
  const paid = async () => {
    const { purchase, sessionId } = await open()
    sales.stripe.pay(sessionId)
    t.match(await look(customer, purchase), { status: 'paid' })
    return { purchase, paymentId: String(sales.stripe.session(sessionId).payment_intent) }
  }
  const refund = async ({ id }: Purchase, amount: string) =>
    unwrap(await sales.core.services.purchaseRefunds.refund(operator, id, { amount, reason: 'asked' }))
  const balance = async () => (await customer.send<Balance>('/v1/balance')).body
  return { ...sales, clock, customer, open, paid, refund, balance }
}

const look = async (customer: Customer, { id }: Purchase) => (await customer.send<Purchase>(`/v1/purchases/${id}`)).body

t.test('a purchase without any report is asked about after an hour', async t => {
  const { stripe, clock, customer, open, balance } = await start(t)
  const [paid, expired, waiting] = [await open(), await open(), await open()]
  stripe.pay(paid.sessionId)
  stripe.expire(expired.sessionId)
  stripe.pay(waiting.sessionId, { card: 'async' })
  clock.skip(HOUR_MS - 60_000)
  t.match(await balance(), { credits_balance: 1 })
  clock.skip(120_000)
  await until('the credits are there', async () => (await balance()).credits_balance === 1001)
  await until('the other purchase is closed', async () => {
    const { body } = await customer.send<{ data: Purchase[] }>('/v1/purchases')
    return body.data.find(({ id }) => id === expired.purchase.id)?.status === 'expired'
  })
  // A payment that takes days is asked about again and again.
  stripe.settleAsync(waiting.sessionId)
  await clock.later('the late payment has arrived', async () => (await balance()).credits_balance === 2001)
  t.match(await look(customer, paid.purchase), { status: 'paid' })
})

t.test('the fee of a payment is recorded once, when Stripe knows it', async t => {
  const { clock, core, stripe, reports, customer, open } = await start(t)
  const { purchase, sessionId } = await open()
  stripe.pay(sessionId)
  // Stripe books some payments later.
  const charge = stripe.store.all('charge')[0] as { balance_transaction: unknown }
  const { balance_transaction } = charge
  charge.balance_transaction = null
  const asked = () => stripe.requestsTo('GET ').length
  const before = asked()
  reports.release()
  await reports.settled()
  t.match(await look(customer, purchase), { status: 'paid' })
  t.equal(asked(), before, 'a report is recorded without a question')
  const fee = async () => unwrap(await core.services.purchaseRefunds.find(operator, purchase.id)).fee
  await clock.later('Stripe is asked', async () => asked() > before)
  t.equal(await fee(), undefined)
  charge.balance_transaction = balance_transaction
  await clock.later('the fee is known', async () => (await fee()) !== undefined)
  t.same(await fee(), { amount: '0.44', currency: 'EUR' })
  const events = await collect(core.log.readAll(BEFORE_FIRST))
  t.equal(events.filter(({ type }) => type === 'FeeCharged').length, 1)
})

t.test('a purchase whose page was never recorded is closed after an hour, and paid if it is paid', async t => {
  const { stripe, clock, reports, customer, balance } = await start(t)
  const buy = () => customer.post('/v1/purchases', { begin_at_once: true, pack: 'starter' })
  // The page is made, and its address is lost.
  stripe.fail('lost', 2)
  t.equal((await buy()).status, 503)
  stripe.fail('error')
  t.equal((await buy()).status, 503)
  stripe.recover()
  const all = async () => (await customer.send<{ data: Purchase[] }>('/v1/purchases')).body.data
  // Whoever looks meanwhile does not close them.
  for (const purchase of await all()) t.match(await look(customer, purchase), { status: 'open' })
  clock.skip(HOUR_MS + 60_000)
  await until('both are closed', async () => (await all()).every(({ status }) => status === 'expired'))
  t.equal((await all()).length, 2)
  const [session] = stripe.store.all('checkout.session')
  stripe.pay(String(session?.id))
  reports.release()
  await reports.settled()
  t.match(await balance(), { credits_balance: 1001 })
})

t.test('while Stripe is away nothing is lost, and everything is tried again', async t => {
  const { stripe, clock, open, paid, refund, balance } = await start(t)
  const { purchase } = await paid()
  const { sessionId } = await open()
  stripe.pay(sessionId)
  stripe.fail('down')
  await refund(purchase, '5.00')
  clock.skip(HOUR_MS + 60_000)
  const asked = () => stripe.requestsTo('GET ').length
  const before = asked()
  await until('Stripe is asked', () => asked() > before + 2)
  t.match(await balance(), { credits_balance: 601 })
  stripe.recover()
  // Attempts that are still under way fail, and wait from then on.
  await clock.later('the refund is made', async () => stripe.store.all('refund').length === 1)
  await clock.later('the credits are there', async () => (await balance()).credits_balance === 1601)
})

t.test('a slow answer about one purchase delays no other', async t => {
  const { stripe, clock, customer, open } = await start(t)
  const purchases = [await open(), await open()]
  for (const { sessionId } of purchases) stripe.pay(sessionId)
  stripe.fail(5_000, 1)
  clock.skip(HOUR_MS + 60_000)
  const paid = await until('a purchase is paid', async () => {
    const { body } = await customer.send<{ data: Purchase[] }>('/v1/purchases')
    return body.data.find(({ status }) => status === 'paid')
  })
  const first = stripe.requestsTo('GET /v1/checkout/sessions/')[0]?.path
  t.notMatch(first, purchases.find(({ purchase }) => purchase.id === paid.id)?.sessionId)
})

t.test('a refund that Stripe refuses gives the credits back', async t => {
  const { stripe, paid, refund, balance } = await start(t)
  const { purchase, paymentId } = await paid()
  // Everything was refunded at Stripe, and the report is late.
  stripe.refund(paymentId)
  await refund(purchase, '5.00')
  await until('the credits are back', async () => (await balance()).credits_balance === 1001)
  t.equal(stripe.store.all('refund').length, 1)
})

t.test('a refund whose answer was lost is made once, also after Stripe has forgotten its key', async t => {
  const { clock, core, stripe, customer, paid, refund, balance } = await start(t)
  const { purchase } = await paid()
  stripe.fail(300)
  await refund(purchase, '12.50')
  await until('Stripe is asked', () => stripe.requestsTo('GET /v1/refunds').length > 0)
  stripe.fail('lost')
  await until('Stripe has refunded twice', () => stripe.requestsTo('POST /v1/refunds').length === 2)
  stripe.recover()
  stripe.idempotencyKeys.forget()
  await clock.later('the refund is accepted', async () => {
    const { purchases } = await core.accounts.currentState(customer.accountId)
    return purchases.get(purchase.id)?.claims[0]?.status === 'standing'
  })
  t.match(await balance(), { credits_balance: 1 })
  t.equal(stripe.store.all('refund').length, 1)
})

t.test('a key that is revoked while Stripe opens the page leaves a purchase that can be paid', async t => {
  const { core, stripe, customer } = await start(t)
  stripe.fail(500)
  const answer = customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
  await until('Stripe is asked', async () => stripe.requestsTo('POST /v1/checkout/sessions').length > 0)
  unwrap(await core.services.keys.revoke(operator, customer.accountId, customer.keyId))
  t.equal((await answer).status, 200)
  const events = await collect(core.log.readStream(accountStream(customer.accountId), 0))
  t.match(events.at(-1), { type: 'CheckoutOpened', metadata: { actor: { kind: 'service' } } })
})
