import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Purchase, PurchaseList } from '../../schemas/api/purchase.ts'
import { auditFolder } from '../support/ledger.ts'
import { salesEnvironment } from '../support/sales.ts'
import { type Customer, openAccounts, openFolder } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { type StripeStub, startStripe } from '../support/stripe/stub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

t.setTimeout(240_000)

/** How long the stub takes for a request, so that the service can be killed meanwhile. The stub finishes it anyway. */
const SLOW_MS = 1000

const start = async (t: Test) => {
  const stripe = await startStripe(t)
  const environment = await salesEnvironment(t, stripe)
  const folder = await temporaryFolder(t)
  const [customer] = await openAccounts({ folder, environment }, { credits: 1 })
  const service = () => startServiceProcess(t, folder, environment)
  const first = await service()
  const reports = (url: string) => stripe.sendTo(`${url}/callbacks/stripe`)
  reports(first.url)
  return { stripe, environment, folder, customer, service, first, reports }
}

const buy = async (stripe: StripeStub, customer: Customer, url: string, terms: object = {}) => {
  const { body: purchase } = await customer
    .at(url)
    .post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter', ...terms })
  const sessionId = /cs_\w+/.exec(purchase.url as string)?.[0] as string
  stripe.pay(sessionId)
  await stripe.webhooks?.settled()
  return { purchase, paymentId: String(stripe.session(sessionId).payment_intent) }
}

/** What the customer's only purchase has become. */
const purchaseOf = async (customer: Customer, url: string) =>
  (await customer.at(url).send<PurchaseList>('/v1/purchases')).body.data[0]

for (const [name, fault] of [
  ['before Stripe has opened the page', 'hang'],
  ['after Stripe has opened the page', SLOW_MS],
] as const)
  t.test(`a kill ${name} loses no payment`, async t => {
    const { stripe, environment, folder, customer, service, first, reports } = await start(t)
    stripe.fail(fault)
    const answer = customer
      .at(first.url)
      .post('/v1/purchases', { begin_at_once: true, pack: 'starter' })
      .catch(() => undefined)
    await until('Stripe is asked', () => stripe.requestsTo('POST /v1/checkout/sessions').length > 0)
    await first.end('SIGKILL')
    t.equal(await answer, undefined)
    const sessions = () => stripe.store.all('checkout.session')
    if (fault !== 'hang') await until('Stripe has opened the page', () => sessions().length > 0)
    stripe.recover()
    t.equal(sessions().length, fault === 'hang' ? 0 : 1)
    const second = await service()
    reports(second.url)
    const opened = await purchaseOf(customer, second.url)
    t.match(opened, { status: 'open' })
    t.notOk('url' in (opened ?? {}))
    // Whoever looks does not close it.
    t.match((await customer.at(second.url).send<Purchase>(`/v1/purchases/${opened?.id}`)).body, { status: 'open' })
    for (const { id } of sessions()) stripe.pay(id)
    await stripe.webhooks?.settled()
    t.match(await purchaseOf(customer, second.url), { status: fault === 'hang' ? 'open' : 'paid' })
    // The next purchase is not in the way of the last.
    await buy(stripe, customer, second.url)
    t.equal(await customer.at(second.url).balance(), fault === 'hang' ? 1001 : 2001)
    await second.end('SIGTERM')
    t.same((await auditFolder(folder, environment)).faults, [])
  })

for (const [name, fault] of [
  ['before Stripe has refunded', 'hang'],
  ['after Stripe has refunded', SLOW_MS],
] as const)
  t.test(`a kill ${name} refunds once`, async t => {
    const { stripe, environment, folder, customer, service, first } = await start(t)
    const { purchase, paymentId } = await buy(stripe, customer, first.url)
    // Nothing is reported from here on.
    stripe.webhooks?.close()
    stripe.webhooks = undefined
    stripe.fail(fault)
    const core = await openFolder(folder, { environment })
    const operator = { kind: 'operator', name: 'ada' } as const
    unwrap(await core.services.purchaseRefunds.refund(operator, purchase.id, { amount: '5.00', reason: 'asked' }))
    await core.close()
    const route = fault === 'hang' ? 'GET /v1/refunds' : 'POST /v1/refunds'
    await until('Stripe is asked', () => stripe.requestsTo(route).length > 0)
    await first.end('SIGKILL')
    const refunds = () => stripe.store.all('refund')
    if (fault !== 'hang') await until('Stripe has refunded', () => refunds().length > 0)
    stripe.recover()
    // As after a day.
    stripe.idempotencyKeys.forget()
    const second = await service()
    const accepted = await until('the refund is accepted', async () => {
      const again = await openFolder(folder, { environment })
      const state = await again.accounts.currentState(customer.accountId)
      await again.close()
      const claim = state.purchases.get(purchase.id)?.claims[0]
      return claim?.status === 'standing' && claim
    })
    t.match(accepted, { kind: 'refund', amount: '5.00' })
    t.match(refunds(), [{ amount: 500, payment_intent: paymentId }])
    t.equal(refunds().length, 1)
    t.equal(await customer.at(second.url).balance(), 601)
    await second.end('SIGTERM')
    t.same((await auditFolder(folder, environment)).faults, [])
  })

for (const [name, fault] of [
  ['before Stripe has refunded', 'hang'],
  ['after Stripe has refunded', SLOW_MS],
] as const)
  t.test(`a withdrawal and a kill ${name} are one declaration and one refund, with a receipt`, async t => {
    const { stripe, environment, folder, customer, service, first } = await start(t)
    const { purchase, paymentId } = await buy(stripe, customer, first.url)
    // Nothing is reported from here on.
    stripe.webhooks?.close()
    stripe.webhooks = undefined
    stripe.fail(fault)
    const withdraw = (url: string) => customer.at(url).post<Purchase>(`/v1/purchases/${purchase.id}/withdrawal`, {})
    const { status, body: before } = await withdraw(first.url)
    t.equal(status, 200)
    t.equal(await customer.at(first.url).balance(), 1, 'the credits are gone before Stripe answers')
    const route = fault === 'hang' ? 'GET /v1/refunds' : 'POST /v1/refunds'
    await until('Stripe is asked', () => stripe.requestsTo(route).length > 0)
    await first.end('SIGKILL')
    const refunds = () => stripe.store.all('refund')
    if (fault !== 'hang') await until('Stripe has refunded', () => refunds().length > 0)
    stripe.recover()
    // As after a day.
    stripe.idempotencyKeys.forget()
    const second = await service()
    const { body: after } = await withdraw(second.url)
    // The other process has another port.
    t.same({ ...after, invoice_url: before.invoice_url }, before, 'the same declaration')
    await until('the refund is accepted', async () => {
      const core = await openFolder(folder, { environment })
      const { purchases } = await core.accounts.currentState(customer.accountId)
      await core.close()
      return purchases.get(purchase.id)?.claims[0]?.status === 'standing'
    })
    t.match(refunds(), [{ amount: 1250, payment_intent: paymentId }])
    t.equal(refunds().length, 1)
    t.equal(await customer.at(second.url).balance(), 1)
    const outbox = join(folder, 'outbox')
    const receipts = async () =>
      (await Promise.all((await readdir(outbox)).map(mail => readFile(join(outbox, mail), 'utf8')))).filter(mail =>
        mail.includes(purchase.id),
      )
    await until('the receipt is there', async () => (await receipts()).length > 0)
    await second.end('SIGTERM')
    t.same((await auditFolder(folder, environment)).faults, [])
  })

t.test('two processes that get withdrawals at the same time record one, and refund once', async t => {
  const { stripe, environment, folder, customer, service, first } = await start(t)
  const { purchase, paymentId } = await buy(stripe, customer, first.url)
  const second = await service()
  const asked = Array.from({ length: 20 }, (_, number) =>
    customer.at((number % 2 === 0 ? first : second).url).post<Purchase>(`/v1/purchases/${purchase.id}/withdrawal`, {}),
  )
  const answers = await Promise.all(asked)
  const times = new Set(answers.map(({ body }) => body.withdrawal?.declared_at))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.equal(times.size, 1)
  t.type([...times][0], 'string')
  await until('Stripe refunds', () => stripe.store.all('refund').length > 0)
  await stripe.webhooks?.settled()
  const { claims = [] } = (await purchaseOf(customer, second.url)) as Purchase
  t.match(claims, [{ kind: 'refund', amount: '12.50' }])
  t.match(stripe.store.all('refund'), [{ amount: 1250, payment_intent: paymentId }])
  t.equal(claims.length, 1)
  for (const process of [first, second]) await process.end('SIGTERM')
  t.same((await auditFolder(folder, environment)).faults, [])
})

for (const [name, fault] of [
  ['before Stripe has charged', 'hang'],
  ['after Stripe has charged', SLOW_MS],
] as const)
  t.test(`a kill ${name} tops up once`, async t => {
    const { stripe, environment, folder, customer, service, first } = await start(t)
    await buy(stripe, customer, first.url, { keep_method: true })
    // Nothing is reported from here on.
    stripe.webhooks?.close()
    stripe.webhooks = undefined
    stripe.fail(fault)
    const topUp = { begin_at_once: true, below_credits: 1002, credits: 100, monthly_amount: '1.25' }
    const { status } = await customer.at(first.url).send('/v1/top_up', {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(topUp),
    })
    t.equal(status, 200)
    const route = fault === 'hang' ? 'GET /v1/checkout/sessions' : 'POST /v1/payment_intents'
    await until('Stripe is asked', () => stripe.requestsTo(route).length > 0)
    await first.end('SIGKILL')
    const charges = () => stripe.store.all('payment_intent').length - 1
    if (fault !== 'hang') await until('Stripe has charged', () => charges() > 0)
    stripe.recover()
    // As after a day.
    stripe.idempotencyKeys.forget()
    const second = await service()
    await until('the top-up is paid', async () => (await customer.at(second.url).balance()) === 1101)
    t.equal(charges(), 1)
    t.match(await purchaseOf(customer, second.url), { status: 'paid', credits: 100 })
    await second.end('SIGTERM')
    t.same((await auditFolder(folder, environment)).faults, [])
  })
