import t, { type Test } from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import type { Invoice, Purchase, PurchaseList } from '../../schemas/api/purchase.ts'
import { picture } from '../support/client.ts'
import { startSales } from '../support/sales.ts'
import { instantProvider, openAccount } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startSales(t, {
  providers: { sandbox: instantProvider },
  environment: { PURCHASES_PER_HOUR: '3' },
})
const { stripe, reports } = service

const customerOf = async () => {
  const customer = await openAccount(service, { credits: 1 })
  const buy = async (body: object = { pack: 'starter' }) =>
    await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, ...body })
  const balance = async () => (await customer.send<Balance>('/v1/balance')).body
  const sessionOf = (purchase: Purchase) => {
    return /cs_[A-Za-z0-9_]+/.exec(purchase.url as string)?.[0] as string
  }
  return {
    send: customer.send.bind(customer) as typeof customer.send,
    run: customer.run.bind(customer),
    buy,
    balance,
    sessionOf,
  }
}

t.test('a customer buys a pack, and has the credits as soon as Stripe reports the payment', async t => {
  const customer = await customerOf()
  const { status, body: purchase } = await customer.buy()
  t.equal(status, 200, JSON.stringify(purchase))
  t.match(purchase, {
    object: 'purchase',
    status: 'open',
    pack: 'starter',
    credits: 1000,
    amount: '12.50',
    currency: 'EUR',
  })
  await stripe.pay(customer.sessionOf(purchase), { country: 'DE' })
  await reports.settled()
  t.match(await customer.balance(), { credits_balance: 1001, credits_paid: 1000, credits_free: 1 })
  const { body: paid } = await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.match(paid, { status: 'paid', country: 'DE' })
  t.notOk('url' in paid)
  const { body: list } = await customer.send<PurchaseList>('/v1/purchases')
  t.same(list.data, [paid])
})

t.test('the invoice of a paid purchase is at an address of Stripe, which is asked for each time', async t => {
  const customer = await customerOf()
  const { body: purchase } = await customer.buy()
  const invoice = (id = purchase.id) => customer.send<Invoice>(`/v1/purchases/${id}/invoice`)
  t.notOk('invoice_url' in purchase)
  t.match(await invoice(), { status: 404, text: /The purchase has no invoice\./ })
  stripe.pay(customer.sessionOf(purchase))
  await reports.settled()
  const { body: paid } = await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.equal(paid.invoice_url, `${service.url}/console/credits/purchases/${purchase.id}/invoice`)
  const [issued] = stripe.store.all('invoice').filter(({ id }) => id === paid.invoice)
  t.match((await invoice()).body, {
    ...{ object: 'invoice', id: paid.invoice, number: issued?.number },
    ...{ url: issued?.hosted_invoice_url, pdf_url: issued?.invoice_pdf },
  })
  t.match(await invoice('pur_01h455vb4pex5vsknk084sn02q'), { status: 404, text: /no purchase/ })
  const other = await customerOf()
  t.match(await other.send(`/v1/purchases/${purchase.id}/invoice`), { status: 404 })
  const asked = () => stripe.requestsTo('GET ').length
  const before = asked()
  const answers = await Promise.all(Array.from({ length: 30 }, () => invoice()))
  t.match(
    answers.find(({ status }) => status === 429),
    { text: /too many invoices/ },
  )
  t.ok(asked() - before < 20, 'Stripe is spared')
})

t.test('whoever asks for the purchase finds it paid before the report', async t => {
  const customer = await customerOf()
  reports.isHeld = true
  const { body: purchase } = await customer.buy({ credits: 250 })
  t.match(purchase, { credits: 250, amount: '3.13' })
  await stripe.pay(customer.sessionOf(purchase))
  t.match((await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)).body, { status: 'paid' })
  t.match(await customer.balance(), { credits_balance: 251 })
  reports.times = 3
  reports.release(events => events.reverse())
  await reports.settled()
  reports.times = 1
  t.match(await customer.balance(), { credits_balance: 251 })
})

t.test('evidence of the country is recorded as far as Stripe has told it', async t => {
  const customer = await customerOf()
  const evidenceOf = async ({ id }: Purchase) =>
    unwrap(await service.core.services.purchaseRefunds.find({ kind: 'operator', name: 'ada' }, id)).evidence
  const [reported, asked] = [(await customer.buy()).body, (await customer.buy()).body]
  await stripe.pay(customer.sessionOf(reported), { taxId: 'IE6388047V' })
  await reports.settled()
  t.same(await evidenceOf(reported), { taxId: true }, 'a report does not have the card')
  reports.isHeld = true
  await stripe.pay(customer.sessionOf(asked))
  t.match((await customer.send<Purchase>(`/v1/purchases/${asked.id}`)).body, { status: 'paid', country: 'DE' })
  t.same(await evidenceOf(asked), { cardCountry: 'IE' })
  reports.release()
  await reports.settled()
})

t.test('a report counts only with a fresh signature', async t => {
  const customer = await customerOf()
  const { body: purchase } = await customer.buy()
  reports.isHeld = true
  await stripe.pay(customer.sessionOf(purchase))
  const event = stripe.eventsOf('checkout.session.completed').at(-1)
  if (!event) return t.fail('there is no event')
  t.equal(await reports.post(event, { secrets: [] }), 400)
  t.equal(await reports.post(event, { secrets: ['whsec_another'] }), 400)
  t.equal(await reports.post(event, { ageSeconds: 301 }), 400)
  t.equal(await reports.post(event, { forge: body => body.replace('"livemode": false', '"livemode": true ') }), 400)
  t.match(await customer.balance(), { credits_balance: 1 })
  t.equal(await reports.post(event, { ageSeconds: 290 }), 204)
  t.match(await customer.balance(), { credits_balance: 1001 })
  reports.release()
  await reports.settled()
})

t.test('a refund at Stripe takes back its share, and a refund that fails returns it', async t => {
  const customer = await customerOf()
  const { body: purchase } = await customer.buy()
  await stripe.pay(customer.sessionOf(purchase))
  await reports.settled()
  const paymentId = String(stripe.session(customer.sessionOf(purchase)).payment_intent)
  const refund = stripe.refund(paymentId, 625)
  await reports.settled()
  t.match(await customer.balance(), { credits_balance: 501 })
  stripe.failRefund(refund.id)
  await reports.settled()
  t.match(await customer.balance(), { credits_balance: 1001 })
  const { body } = await customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.match(body.claims, [{ kind: 'refund', id: refund.id, amount: '6.25', reversed_at: String }])
})

t.test('an operator refunds what is left, and Stripe returns the money', async t => {
  const customer = await customerOf()
  const { body: purchase } = await customer.buy()
  await stripe.pay(customer.sessionOf(purchase))
  await reports.settled()
  t.equal((await customer.run(picture)).status, 200)
  // 991 credits are left, and 12.38 EUR pay for 990.4 of them.
  const operator = { kind: 'operator', name: 'ada' } as const
  const { purchaseRefunds } = service.core.services
  const refunded = await purchaseRefunds.refund(operator, purchase.id, { reason: 'asked' })
  t.notOk('refuse' in refunded)
  t.match(await customer.balance(), { credits_balance: 0.6 })
  const [request] = await until('Stripe is asked', async () => {
    const found = stripe.requestsTo('POST /v1/refunds').filter(({ body }) => body.includes('ref_'))
    return found.length > 0 ? found : undefined
  })
  t.match(request?.body, /amount=1238&/)
  await reports.settled()
  t.match(await customer.balance(), { credits_balance: 0.6 })
  t.match(await purchaseRefunds.refund(operator, purchase.id, { reason: 'again' }), {
    refuse: { code: 'refund_above_rest' },
  })
  t.match(await purchaseRefunds.refund(operator, 'pur_x', { reason: 'no' }), { refuse: { code: 'purchase_not_found' } })
})

t.test('a disputed payment leaves a debt, which stops runs until it is paid', async t => {
  const customer = await customerOf()
  const { body: purchase } = await customer.buy({ credits: 100 })
  await stripe.pay(customer.sessionOf(purchase))
  await reports.settled()
  for (let run = 0; run < 4; run++) t.equal((await customer.run(picture)).status, 200)
  const dispute = stripe.dispute(String(stripe.session(customer.sessionOf(purchase)).payment_intent))
  await reports.settled()
  const owing = await customer.balance()
  t.match(owing, { credits_balance: 0, credits_owed: 39 })
  const { status, body } = await customer.run(picture)
  t.equal(status, 402)
  t.match(body.error, {
    code: 'insufficient_credits',
    credits_owed: 39,
    message: /owes 39 credits/,
    offers: [{ pack: 'starter' }, { pack: 'studio' }],
  })
  stripe.closeDispute(dispute.id, 'won')
  await reports.settled()
  t.match(await customer.balance(), { credits_balance: 61 })
  t.notOk('credits_owed' in (await customer.balance()))
})

t.test('an account begins only so many purchases an hour, and unclear ones are refused', async t => {
  const customer = await customerOf()
  t.match((await customer.buy({})).body, { error: { code: 'invalid_request' } })
  t.match((await customer.buy({ pack: 'starter', credits: 5 })).body, { error: { code: 'invalid_request' } })
  t.match((await customer.buy({ pack: 'nope' })).body, {
    error: { code: 'invalid_request', message: /starter, studio/ },
  })
  t.match((await customer.buy({ credits: 99 })).body, { error: { code: 'invalid_request', message: /from 100 to/ } })
  for (let count = 0; count < 3; count++) t.equal((await customer.buy()).status, 200)
  const { status, body } = await customer.buy()
  t.equal(status, 429)
  t.match(body, { error: { code: 'rate_limited', message: /3 purchases an hour/ } })
  t.equal((await customer.send('/v1/purchases/pur_00000000000000000000000000')).status, 404)
})

t.test('nothing is bought without the consent to begin at once', async t => {
  const customer = await customerOf()
  for (const begin_at_once of [undefined, false]) {
    const { status, body } = await customer.buy({ pack: 'starter', begin_at_once })
    t.equal(status, 400)
    t.match(body, {
      error: { code: 'invalid_request', message: /the 14 days/, errors: [{ path: '/begin_at_once' }] },
    })
  }
  t.equal((await customer.buy({ pack: 'starter', begin_at_once: 'yes' })).status, 400)
  t.same((await customer.send<PurchaseList>('/v1/purchases')).body.data, [])
})

t.test('a service that sells only to businesses asks for no consent', async t => {
  const businesses = await startSales(t, { environment: { WITHDRAWAL_DAYS: '0' } })
  const customer = await openAccount(businesses, { credits: 1 })
  const { status, body } = await customer.post<Purchase>('/v1/purchases', { pack: 'starter' })
  t.equal(status, 200)
  await businesses.stripe.pay(/cs_\w+/.exec(body.url as string)?.[0] as string)
  await businesses.reports.settled()
  t.match((await customer.send<Purchase>(`/v1/purchases/${body.id}`)).body, {
    status: 'paid',
  })
})

t.test('purchases of another account do not exist', async (t: Test) => {
  const [one, other] = [await customerOf(), await customerOf()]
  const { body: purchase } = await one.buy()
  t.equal((await other.send(`/v1/purchases/${purchase.id}`)).status, 404)
  t.same((await other.send<PurchaseList>('/v1/purchases')).body.data, [])
})

t.test('a purchase that cannot be opened at Stripe is answered with 503, and charges nothing', async t => {
  const customer = await customerOf()
  stripe.fail('error')
  const { status } = await customer.buy()
  stripe.recover()
  t.equal(status, 503)
})
