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

/** Stripe does what it is asked for after the kill, or not at all. */
const KILLS = [
  ['before', 'hang'],
  ['after', SLOW_MS],
] as const

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

interface Kill {
  fault: 'hang' | number
  /** The request that hangs, and the one that Stripe does slowly. */
  routes: { hang: string; slow: string }
  /** Whether Stripe has done it. */
  isDone(): boolean
}

/** Does something, kills the service while it asks Stripe, and starts another one, as after a day without reports. */
const killMeanwhile = async <Done>(
  { stripe, first, service }: Awaited<ReturnType<typeof start>>,
  { fault, routes, isDone }: Kill,
  act: () => Promise<Done>,
) => {
  stripe.webhooks?.close()
  stripe.webhooks = undefined
  stripe.fail(fault)
  const done = await act()
  const route = fault === 'hang' ? routes.hang : routes.slow
  await until('Stripe is asked', () => stripe.requestsTo(route).length > 0)
  await first.end('SIGKILL')
  if (fault !== 'hang') await until('Stripe has done it', isDone)
  stripe.recover()
  stripe.idempotencyKeys.forget()
  return { done, second: await service() }
}

/** What the customer's only purchase has become. */
const purchaseOf = async (customer: Customer, url: string) =>
  (await customer.at(url).send<PurchaseList>('/v1/purchases')).body.data[0]

for (const [name, fault] of KILLS)
  t.test(`a kill ${name} Stripe has opened the page loses no payment`, async t => {
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

const REFUND = { hang: 'GET /v1/refunds', slow: 'POST /v1/refunds' }

for (const [name, fault] of KILLS)
  t.test(`a kill ${name} Stripe has refunded refunds once`, async t => {
    const world = await start(t)
    const { stripe, environment, folder, customer, first } = world
    const { purchase, paymentId } = await buy(stripe, customer, first.url)
    const refunds = () => stripe.store.all('refund')
    const kill = { fault, routes: REFUND, isDone: () => refunds().length > 0 }
    const { second } = await killMeanwhile(world, kill, async () => {
      const core = await openFolder(folder, { environment })
      const operator = { kind: 'operator', name: 'ada' } as const
      unwrap(await core.services.purchaseRefunds.refund(operator, purchase.id, { amount: '5.00', reason: 'asked' }))
      await core.close()
    })
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

for (const [name, fault] of KILLS)
  t.test(
    `a withdrawal and a kill ${name} Stripe has refunded are one declaration and one refund, with a receipt`,
    async t => {
      const world = await start(t)
      const { stripe, environment, folder, customer, first } = world
      const { purchase, paymentId } = await buy(stripe, customer, first.url)
      const withdraw = (url: string) => customer.at(url).post<Purchase>(`/v1/purchases/${purchase.id}/withdrawal`, {})
      const refunds = () => stripe.store.all('refund')
      const kill = { fault, routes: REFUND, isDone: () => refunds().length > 0 }
      const { done: before, second } = await killMeanwhile(world, kill, async () => {
        const { status, body } = await withdraw(first.url)
        t.equal(status, 200)
        t.equal(await customer.at(first.url).balance(), 1, 'the credits are gone before Stripe answers')
        return body
      })
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
      // The first mail makes the folder.
      const mails = () => readdir(outbox).catch(() => [])
      const receipts = async () =>
        (await Promise.all((await mails()).map(mail => readFile(join(outbox, mail), 'utf8')))).filter(mail =>
          mail.includes(purchase.id),
        )
      await until('the receipt is there', async () => (await receipts()).length > 0)
      await second.end('SIGTERM')
      t.same((await auditFolder(folder, environment)).faults, [])
    },
  )

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

const TOP_UP = { hang: 'GET /v1/checkout/sessions', slow: 'POST /v1/payment_intents' }

for (const [name, fault] of KILLS)
  for (const removes of [false, true])
    t.test(`a kill ${name} Stripe has charged ${removes ? 'what is removed' : 'tops up once'}`, async t => {
      const world = await start(t)
      const { stripe, environment, folder, customer, first } = world
      await buy(stripe, customer, first.url, { keep_method: true })
      const charges = () => stripe.store.all('payment_intent').length - 1
      const kill = { fault, routes: TOP_UP, isDone: () => charges() > 0 }
      const topUp = { begin_at_once: true, below_credits: 1002, credits: 100, monthly_amount: '1.25' }
      const { second } = await killMeanwhile(world, kill, async () => {
        const body = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(topUp) }
        const { status } = await customer.at(first.url).send('/v1/top_up', { method: 'PUT', ...body })
        t.equal(status, 200)
        if (!removes) return
        const route = fault === 'hang' ? TOP_UP.hang : TOP_UP.slow
        await until('it is under way', () => stripe.requestsTo(route).length > 0)
        t.equal((await customer.at(first.url).send('/v1/top_up', { method: 'DELETE' })).status, 200)
      })
      const isCharged = !removes || fault !== 'hang'
      if (isCharged) await until('it is paid', async () => (await customer.at(second.url).balance()) === 1101)
      else await until('Stripe is asked', () => stripe.requestsTo('GET /v1/payment_intents').length > 0)
      t.equal(charges(), Number(isCharged))
      t.match(await purchaseOf(customer, second.url), { status: isCharged ? 'paid' : 'open', credits: 100 })
      t.equal((await customer.at(second.url).send('/v1/top_up')).status, removes ? 404 : 200)
      await second.end('SIGTERM')
      t.same((await auditFolder(folder, environment)).faults, [])
    })
