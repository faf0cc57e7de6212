import t from 'tap'
import { parseForm } from '../../support/stripe/form.ts'
import { STRIPE_LIVE_KEY } from '../../support/stripe/stub.ts'
import { checkout, purchase, startPayments } from './support.ts'

const RETURN = 'https://tollgate.example/console/bought?session='

t.test('a page is opened, paid and found', async t => {
  const { stub, payments } = await startPayments(t)
  const given = checkout({ taxCode: 'txcd_10105001' })
  const { sessionId, url, expiresAtMs } = await payments.open(given)
  t.equal(url, `${stub.url}/c/pay/${sessionId}`)
  t.equal(expiresAtMs, given.expiresAtMs)
  const metadata = { purchase: 'pur_1', account: 'acct_1' }
  t.same(parseForm(stub.requests[0]?.body ?? ''), {
    mode: 'payment',
    client_reference_id: 'pur_1',
    metadata,
    line_items: [
      {
        price_data: {
          ...{ currency: 'eur', unit_amount: '1250', tax_behavior: 'inclusive' },
          product_data: { name: '500 credits', tax_code: 'txcd_10105001' },
        },
        quantity: '1',
      },
    ],
    payment_intent_data: { metadata },
    customer_email: 'ada@example.com',
    billing_address_collection: 'required',
    managed_payments: { enabled: 'false' },
    automatic_tax: { enabled: 'false' },
    invoice_creation: { enabled: 'true' },
    tax_id_collection: { enabled: 'true' },
    success_url: given.successUrl,
    cancel_url: given.cancelUrl,
    expires_at: String(expiresAtMs / 1000),
  })
  t.same(await payments.find(sessionId), { ...purchase, sessionId, status: 'open', url, paid: undefined })

  stub.pay(sessionId, { country: 'FR', tax: 208 })
  const found = await payments.find(sessionId)
  const intent = stub.session(sessionId).payment_intent as string
  const invoiceId = stub.session(sessionId).invoice as string
  t.same(found, {
    ...purchase,
    ...{ sessionId, status: 'complete', url: undefined },
    paid: {
      paymentId: intent,
      money: { amount: '12.50', currency: 'EUR' },
      tax: { amount: '2.08', currency: 'EUR' },
      country: 'FR',
      address: {
        ...{ name: 'Ada Lovelace', line1: 'Invalidenstraße 1', postalCode: '10115', city: 'Berlin', country: 'FR' },
      },
      cardCountry: 'IE',
      hasTaxId: false,
      customerId: stub.session(sessionId).customer,
      invoiceId,
      invoice: {
        ...{ id: invoiceId, number: 'STUB-0001' },
        ...{ url: `${stub.url}/i/${invoiceId}`, pdfUrl: `${stub.url}/i/${invoiceId}/pdf` },
      },
      fee: { amount: '0.44', currency: 'EUR' },
      methodId: undefined,
    },
  })
  t.same(await payments.paymentOf(intent), { ...purchase, fee: { amount: '0.44', currency: 'EUR' } })
})

t.test('the same purchase gets the same page, also if an answer was lost', async t => {
  const { stub, payments } = await startPayments(t)
  const given = checkout()
  stub.fail('lost', 1)
  const first = await payments.open(given)
  const second = await payments.open(given)
  t.same(second, first)
  t.equal(stub.store.all('checkout.session').length, 1)
  t.same(
    stub.requests.map(({ headers }) => headers['idempotency-key']),
    ['pur_1', 'pur_1', 'pur_1'],
  )
  const other = checkout({ ...given, money: { amount: '1.00', currency: 'EUR' } })
  await t.rejects(payments.open(other), { name: 'PaymentRefused', code: 'idempotency_error' })
  const another = await payments.open(checkout({ purchaseId: 'pur_2' }))
  t.not(another.sessionId, first.sessionId)
})

t.test('only what Stripe needs is sent', async t => {
  const { stub, payments } = await startPayments(t)
  await payments.open(checkout())
  await payments.find('cs_test_1')
  const names = stub.requests.flatMap(({ headers }) => Object.keys(headers))
  const own = ['accept', 'authorization', 'content-type', 'idempotency-key', 'stripe-version', 'user-agent']
  const network = ['accept-encoding', 'accept-language', 'connection', 'content-length', 'host', 'sec-fetch-mode']
  t.same([...new Set(names)].toSorted(), [...own, ...network].toSorted())
  t.match(stub.requests[0]?.headers, { 'user-agent': 'Tollgate', 'stripe-version': /^2026-\d\d-\d\d\.\w+$/ })
})

t.test('a kept method needs a customer', async t => {
  const { stub, payments } = await startPayments(t)
  const first = await payments.open(checkout({ keepsMethod: true }))
  t.match(parseForm(stub.requests[0]?.body ?? ''), {
    payment_intent_data: { setup_future_usage: 'off_session' },
    customer_creation: 'always',
  })
  stub.pay(first.sessionId)
  const { paid } = (await payments.find(first.sessionId)) ?? {}
  t.match(paid, { customerId: /^cus_/, methodId: /^pm_/ })
})

t.test('tax is Stripe’s own, computed by Stripe, or none', async t => {
  const { stub, payments } = await startPayments(t, { managedPayments: true, automaticTax: true })
  const sale = checkout({ keepsMethod: true, taxCode: 'txcd_10103001' })
  const first = await payments.open(sale)
  t.match(parseForm(stub.requests[0]?.body ?? ''), { managed_payments: { enabled: 'true' } })
  stub.pay(first.sessionId, { country: 'FR', tax: 208 })
  const { paid } = (await payments.find(first.sessionId)) ?? {}
  t.match(paid, { tax: { amount: '2.08' }, invoice: { url: String } })
  t.equal(paid?.methodId, undefined)
  await t.rejects(payments.open(checkout({ purchaseId: 'pur_2' })), { name: 'PaymentRefused', message: /tax_code/ })
  t.equal(payments.chargesKeptMethods, false)

  const computed = await startPayments(t, { automaticTax: true })
  await computed.payments.open(checkout())
  t.match(parseForm(computed.stub.requests[0]?.body ?? ''), {
    ...{ managed_payments: { enabled: 'false' }, automatic_tax: { enabled: 'true' } },
  })
  t.equal(computed.payments.chargesKeptMethods, false)
})

t.test('a key tells the mode', async t => {
  t.equal((await startPayments(t)).payments.isTest, true)
  t.equal((await startPayments(t, { secretKey: STRIPE_LIVE_KEY })).payments.isTest, false)
})

t.test('amounts in yen, euros and dinars', async t => {
  const { stub, payments } = await startPayments(t)
  const cases: [amount: string, currency: string, units: string, fee: string][] = [
    ['500', 'JPY', '500', '33'],
    ['12.50', 'EUR', '1250', '0.44'],
    ['5.120', 'KWD', '5120', '0.102'],
    ['700', 'ISK', '70000', '10.75'],
  ]
  for (const [amount, currency, units, fee] of cases) {
    const money = { amount, currency }
    const { sessionId } = await payments.open(checkout({ purchaseId: `pur_${currency}`, money }))
    t.match(parseForm(stub.requests.at(-1)?.body ?? ''), { line_items: [{ price_data: { unit_amount: units } }] })
    stub.pay(sessionId)
    const { paid } = (await payments.find(sessionId)) ?? {}
    t.match(paid, { money, fee: { amount: fee, currency } }, currency)
  }
  const sent = stub.requests.length
  await t.rejects(payments.open(checkout({ money: { amount: '5.125', currency: 'KWD' } })), {
    message: '5.125 KWD is not a multiple of 0.010 KWD, which Stripe requires',
  })
  t.equal(stub.requests.length, sent, 'an unfit amount is not sent')
  t.match(payments.unfit({ amount: '5.125', currency: 'KWD' }), /multiple/)
  const least = payments.open(checkout({ money: { amount: '0.10', currency: 'EUR' } }))
  await t.rejects(least, { name: 'PaymentRefused', code: 'amount_too_small', message: /^Stripe refuses the request: / })
})

t.test('a free checkout is its own payment', async t => {
  const { stub, payments } = await startPayments(t)
  const { sessionId } = await payments.open(checkout({ money: { amount: '0.00', currency: 'EUR' } }))
  t.match(await payments.find(sessionId), { status: 'open', paid: undefined })
  stub.pay(sessionId)
  const { paid } = (await payments.find(sessionId)) ?? {}
  t.match(paid, { paymentId: sessionId, money: { amount: '0.00' }, country: 'DE' })
})

t.test('a payment may be declined, come late, or never', async t => {
  const { stub, payments } = await startPayments(t)
  const { sessionId } = await payments.open(checkout())
  t.match(stub.pay(sessionId, { card: 'declined' }), { decline_code: 'insufficient_funds' })
  t.match(await payments.find(sessionId), { status: 'open', paid: undefined })
  stub.pay(sessionId, { card: 'async' })
  t.match(await payments.find(sessionId), { status: 'complete', paid: undefined })
  stub.settleAsync(sessionId)
  t.match(await payments.find(sessionId), { status: 'complete', paid: { fee: { amount: '0.44' } } })

  const lost = await payments.open(checkout({ purchaseId: 'pur_2' }))
  stub.pay(lost.sessionId, { card: 'async' })
  stub.settleAsync(lost.sessionId, false)
  t.match(await payments.find(lost.sessionId), { status: 'complete', paid: undefined })
})

t.test('what is none of ours is not found', async t => {
  const { stub, payments } = await startPayments(t)
  t.equal(await payments.find('cs_test_none'), undefined)
  t.equal(await payments.paymentOf('pi_none'), undefined)
  t.equal(await payments.findDispute('du_none'), undefined)
  const sent = stub.requests.length
  for (const id of ['', '.', '..', '../customers/cus_1', 'cs_1/expire', 'cs_1?expand[]=x', 'a'.repeat(300)])
    t.equal(await payments.find(id), undefined, id)
  t.equal(stub.requests.length, sent, 'what cannot be an id is not asked for')
  const { sessionId } = await payments.open(checkout())
  stub.pay(sessionId)
  const session = stub.session(sessionId)
  session.metadata = { purchase: 'pur_1' }
  t.equal(await payments.find(sessionId), undefined)
  stub.store.get('payment_intent', session.payment_intent as string).metadata = {}
  t.equal(await payments.paymentOf(session.payment_intent as string), undefined)
})

t.test('the page works in a browser without script', async t => {
  const { stub, payments } = await startPayments(t)
  const { sessionId, url = '' } = await payments.open(checkout({ name: '500 <credits>' }))
  const page = await (await fetch(url)).text()
  t.match(page, '<h1>500 &lt;credits></h1>')
  t.match(page, 'href="https://tollgate.example/console/buy"')
  const post = (fields: Record<string, string>) =>
    fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  const declined = await post({ card: 'declined' })
  t.match(await declined.text(), 'Your card has insufficient funds.')
  const paid = await post({ card: 'ok', country: 'AT', tax: '208', email: 'grace@example.com' })
  t.equal(paid.status, 303)
  t.equal(paid.headers.get('location'), `${RETURN}${sessionId}`)
  t.match(await payments.find(sessionId), { paid: { country: 'AT', tax: { amount: '2.08' } } })
  t.match(stub.session(sessionId).customer_details, { email: 'grace@example.com' })
  t.match(await (await post({ card: 'ok' })).text(), 'This page is complete.')
  t.equal(stub.store.all('payment_intent').length, 1)
})

t.test('an address that Stripe does not take leaves the page without one', async t => {
  const { stub, payments } = await startPayments(t)
  const { sessionId } = await payments.open(checkout({ email: 'ada@localhost' }))
  t.equal(stub.session(sessionId).customer_email, null)
})
