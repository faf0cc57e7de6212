import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { type StubEvent, signatureOf } from '../../support/stripe/events.ts'
import { STRIPE_LIVE_KEY, WEBHOOK_SECRET } from '../../support/stripe/stub.ts'
import { checkout, purchase, startPayments } from './support.ts'

const OTHER_SECRET = 'whsec_other0123456789abcdef'

const nowSeconds = () => Math.floor(Date.now() / 1000)

const signed = (body: string, { secrets = [WEBHOOK_SECRET], ageSeconds = 0 } = {}) =>
  [Buffer.from(body), signatureOf(body, secrets, nowSeconds() - ageSeconds)] as const

const start = async (t: Test, changes = {}) => {
  const { stub, payments } = await startPayments(t, changes)
  const read = (event: object | undefined) => payments.read(...signed(JSON.stringify(event)))
  /** What all events of some kinds mean, oldest first. */
  const told = (...types: string[]) => Promise.all(stub.eventsOf(...types).map(read))
  const last = () => read(stub.events.at(-1))
  return { stub, payments, read, told, last }
}

const startPaid = async (t: Test) => {
  const started = await start(t)
  const { sessionId } = await started.payments.open(checkout({ keepsMethod: true }))
  started.stub.pay(sessionId, { country: 'SE', tax: 250 })
  return { ...started, sessionId, paymentId: started.stub.session(sessionId).payment_intent as string }
}

t.test('a paid checkout is reported with its facts', async t => {
  const { stub, payments, told, sessionId, paymentId } = await startPaid(t)
  const [report] = await told('checkout.session.completed')
  const { paid } = (await payments.find(sessionId)) ?? {}
  const { invoice: _, fee: __, methodId: ___, ...facts } = paid ?? {}
  t.match(facts, { paymentId, money: { amount: '12.50' }, tax: { amount: '2.50' }, country: 'SE' })
  t.same(report, {
    kind: 'checkout_paid',
    ...purchase,
    // A report does not have the card.
    facts: { ...facts, cardCountry: undefined },
  })
  const others = stub.events.filter(({ type }) => type !== 'checkout.session.completed')
  t.ok(others.length >= 3)
  t.same(
    await told(...others.map(({ type }) => type)),
    others.map(() => undefined),
  )
})

t.test('a checkout waits, is paid late, fails or expires', async t => {
  const { stub, payments, last } = await start(t)
  const open = async (purchaseId: string) => (await payments.open(checkout({ purchaseId }))).sessionId
  const late = await open('pur_1')
  stub.pay(late, { card: 'async' })
  t.match(await last(), { kind: 'checkout_waiting', ...purchase })
  stub.settleAsync(late)
  t.match(await last(), { kind: 'checkout_paid', ...purchase, facts: { money: { amount: '12.50' } } })
  const never = await open('pur_2')
  stub.pay(never, { card: 'async' })
  stub.settleAsync(never, false)
  t.match(await last(), { kind: 'checkout_failed', purchaseId: 'pur_2' })
  const left = await open('pur_3')
  stub.expire(left)
  t.match(await last(), { kind: 'checkout_expired', purchaseId: 'pur_3' })
  const free = (await payments.open(checkout({ purchaseId: 'pur_4', money: { amount: '0', currency: 'EUR' } })))
    .sessionId
  stub.pay(free)
  t.match(await last(), { kind: 'checkout_paid', facts: { paymentId: free } })
})

t.test('refunds are reported, wherever they were made', async t => {
  const { stub, payments, told, paymentId } = await startPaid(t)
  stub.refundsWait = true
  const money = { amount: '5.00', currency: 'EUR' }
  const ours = await payments.refund({ ...purchase, refundKey: 'ref_1', paymentId, money })
  const byHand = stub.refund(paymentId, 100)
  stub.succeedRefund(ours.refundId)
  stub.failRefund(byHand.id)
  t.match(await told('refund.created', 'refund.updated', 'refund.failed'), [
    { kind: 'refund_changed', refund: { ...ours, status: 'pending' } },
    { refund: { refundId: byHand.id, paymentId, money: { amount: '1.00' }, status: 'pending', refundKey: undefined } },
    { refund: { ...ours, status: 'succeeded' } },
    { refund: { refundId: byHand.id, status: 'failed' } },
    { refund: { refundId: byHand.id, status: 'failed' } },
  ])
  t.same(await told('charge.refunded'), [undefined, undefined])
  Object.assign(stub.store.get('refund', byHand.id), { metadata: { refund: 'yes' } })
  const [labelled] = await payments.refundsOf(paymentId)
  t.match(labelled, { refundId: byHand.id, refundKey: undefined }, 'a label of somebody else is no key of ours')
})

t.test('disputes are reported once the bank takes the money', async t => {
  const { stub, told, paymentId } = await startPaid(t)
  const { id } = stub.dispute(paymentId, { isInquiry: true })
  stub.escalate(id)
  stub.closeDispute(id, 'won')
  const dispute = { disputeId: id, paymentId, money: { amount: '12.50', currency: 'EUR' } }
  const types = ['created', 'updated', 'funds_withdrawn', 'closed', 'funds_reinstated']
  t.match(await told(...types.map(type => `charge.dispute.${type}`)), [
    undefined,
    { kind: 'dispute_changed', dispute: { ...dispute, status: 'open' } },
    { dispute: { ...dispute, status: 'open' } },
    { dispute: { ...dispute, status: 'won' } },
    { dispute: { ...dispute, status: 'won' } },
  ])
  const other = stub.dispute(paymentId, { amount: 300 })
  stub.closeDispute(other.id, 'lost')
  t.match((await told('charge.dispute.closed')).at(-1), { dispute: { money: { amount: '3.00' }, status: 'lost' } })
})

t.test('charges of kept methods are reported, and no other payments', async t => {
  const { stub, payments, told, sessionId } = await startPaid(t)
  const { paid } = (await payments.find(sessionId)) ?? {}
  const { customerId = '', methodId = '' } = paid ?? {}
  const money = { amount: '10.00', currency: 'EUR' }
  const charge = (chargeKey: string) =>
    payments.charge({ ...purchase, chargeKey, customerId, methodId, money, description: 'credits' })
  await charge('pur_2')
  stub.setCard(methodId, 'declined')
  await charge('pur_3')
  stub.setCard(methodId, 'async')
  await charge('pur_4')
  stub.settleCharge(stub.store.all('payment_intent').at(-1)?.id ?? '')
  const reports = await told('payment_intent.succeeded', 'payment_intent.payment_failed')
  const changed = { kind: 'charge_changed', ...purchase }
  t.match(reports, [undefined, changed, changed, changed])
})

t.test('what does not concern us is no report', async t => {
  const { stub, payments, read } = await startPaid(t)
  const [event] = stub.eventsOf('checkout.session.completed') as [StubEvent]
  const changed = (object: object) => ({ ...event, data: { object: { ...event.data.object, ...object } } })
  for (const [name, other] of Object.entries({
    'another kind': { ...event, type: 'customer.created' },
    'a kind of the future': { ...event, type: 'checkout.session.blessed' },
    'a checkout of somebody else': changed({ metadata: {} }),
    'a checkout without account': changed({ metadata: { purchase: 'pur_1' } }),
    'a checkout without metadata': changed({ metadata: null }),
    'the other mode': { ...event, livemode: true },
    'a refund of no payment': {
      ...event,
      type: 'refund.created',
      data: { object: { object: 'refund', payment_intent: null } },
    },
    'a thin event': { id: 'evt_1', object: 'v2.core.event', type: 'v1.billing.meter.error', livemode: false },
  }))
    t.equal(await read(other), undefined, name)
  t.equal(await payments.read(...signed('{"id":')), undefined, 'signed text that is no event')
  const live = await start(t, { secretKey: STRIPE_LIVE_KEY })
  t.equal(await live.read(event), undefined, 'a test event with a live key')
  t.match(await live.read({ ...event, livemode: true }), { kind: 'checkout_paid' })
  const restricted = await start(t, { secretKey: 'rk_live_1' })
  t.match(await restricted.read({ ...event, livemode: true }), { kind: 'checkout_paid' })
})

t.test('only what Stripe has signed lately is read', async t => {
  const { stub, payments } = await startPaid(t)
  const body = JSON.stringify(stub.eventsOf('checkout.session.completed')[0])
  const [bytes, signature] = signed(body)
  t.match(await payments.read(bytes, signature), { kind: 'checkout_paid' })
  t.match(await payments.read(...signed(body, { ageSeconds: 295 })), { kind: 'checkout_paid' })
  const v1 = /v1=\w+/.exec(signature)?.[0] ?? ''
  const at = /t=\d+/.exec(signature)?.[0] ?? ''
  const cases: [name: string, bytes: Buffer, signature: string | undefined, fault: string][] = [
    ['no signature', bytes, undefined, 'missing'],
    ['an empty signature', bytes, '', 'missing'],
    ['something else', bytes, 'hello', 'missing'],
    ['no time', bytes, v1, 'missing'],
    ['no signature but v0', bytes, `${at},v0=${v1.slice(3)}`, 'missing'],
    ['another secret', ...signed(body, { secrets: [OTHER_SECRET] }), 'forged'],
    ['an empty secret', ...signed(body, { secrets: [''] }), 'forged'],
    ['a changed amount', Buffer.from(body.replaceAll('1250', '9999')), signature, 'forged'],
    ['one more space', Buffer.from(`${body} `), signature, 'forged'],
    ['a cut signature', bytes, signature.replace(v1, v1.slice(0, -1)), 'forged'],
    ['another time', bytes, signature.replace(at, `t=${nowSeconds() - 1}`), 'forged'],
    ['an old signature', ...signed(body, { ageSeconds: 305 }), 'old'],
    ['an old signature with a new time', bytes, signed(body, { ageSeconds: 400 })[1].replace(/t=\d+/, at), 'forged'],
    ['an empty body', Buffer.alloc(0), signature, 'forged'],
  ]
  for (const [name, sent, given, fault] of cases)
    await t.rejects(payments.read(sent, given), { name: 'SignatureInvalid', fault }, name)
})

t.test('two secrets count while one replaces the other', async t => {
  const { stub, payments } = await startPaid(t)
  const body = JSON.stringify(stub.eventsOf('checkout.session.completed')[0])
  const both = await start(t, { webhookSecrets: [OTHER_SECRET, WEBHOOK_SECRET] })
  t.match(await both.payments.read(...signed(body)), { kind: 'checkout_paid' })
  t.match(await both.payments.read(...signed(body, { secrets: [OTHER_SECRET] })), { kind: 'checkout_paid' })
  // Stripe signs with both secrets of an endpoint.
  const rolled = signed(body, { secrets: [OTHER_SECRET, WEBHOOK_SECRET] })
  t.match(await payments.read(...rolled), { kind: 'checkout_paid' })
  await t.rejects(both.payments.read(...signed(body, { secrets: ['whsec_third'] })), {
    name: 'SignatureInvalid',
    fault: 'forged',
  })
  await t.rejects(both.payments.read(...signed(body, { ageSeconds: 305 })), { name: 'SignatureInvalid', fault: 'old' })
  const none = await start(t, { webhookSecrets: [''] })
  await t.rejects(none.payments.read(...signed(body, { secrets: [''] })), { name: 'SignatureInvalid' })
})

t.test('operators are told which events to send', async t => {
  const code = await readFile('src/adapters/payments/reports.ts', 'utf8')
  const page = await readFile('docs/configuration.md', 'utf8')
  const read = [...code.matchAll(/case '([\w.]+)'/g)].map(([, type]) => type)
  const told = [...page.matchAll(/`((?:checkout|payment_intent|refund|charge)\.[\w.]+)`/g)].map(([, type]) => type)
  t.ok(read.length > 10)
  t.same(told.toSorted(), read.toSorted())
})
