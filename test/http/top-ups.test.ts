import t, { type Test } from 'tap'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { Purchase, PurchaseList } from '../../schemas/api/purchase.ts'
import type { TopUp } from '../../schemas/api/top-up.ts'
import { sandbox } from '../support/client.ts'
import { SkippingClock } from '../support/manual-clock.ts'
import { startSales } from '../support/sales.ts'
import { instantProvider, openAccount } from '../support/service.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'test' } as const

const HOUR_MS = 60 * 60 * 1000

/** Each costs a credit. */
const RUNS = isLong ? 1000 : 60

const wanted = { begin_at_once: true, below_credits: 100, credits: 1000, monthly_amount: '50.00' }

const clock = new SkippingClock(Date.now())
const service = await startSales(t, { clock, providers: { sandbox: instantProvider } })
const { stripe, reports } = service

/** A customer with 101 credits, whose payment method is kept at Stripe. */
const keptCustomer = async () => {
  const customer = await openAccount(service, { credits: 1, tester: true })
  const { body } = await customer.post<Purchase>('/v1/purchases', {
    credits: 100,
    keep_method: true,
    begin_at_once: true,
  })
  const sessionId = /cs_\w+/.exec(body.url as string)?.[0] as string
  stripe.pay(sessionId)
  await reports.settled()
  const method = stripe.store.all('payment_method').at(-1)
  const set = (body: object = wanted) => customer.send<TopUp>('/v1/top_up', jsonOf('PUT', body))
  const topUp = () => customer.send<TopUp>('/v1/top_up')
  const topUps = async () => (await customer.send<PurchaseList>('/v1/purchases')).body.data.slice(0, -1)
  const charges = () => stripe.store.all('payment_intent').filter(({ customer: id }) => id === method?.customer)
  return { customer, methodId: method?.id ?? '', set, topUp, topUps, charges, balance: () => customer.balance() }
}

const jsonOf = (method: string, body: object) => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

const refusalOf = async (request: Promise<{ status: number; body: unknown }>) => {
  const { status, body } = await request
  return { status, ...(body as { error: { code: string; message: string; errors?: object[] } }).error }
}

// Hours pass in their tests, and Stripe's pages do not stay open so long.
const [lost, declined, helped, suspended, leaving] = [
  ...[await keptCustomer(), await keptCustomer(), await keptCustomer()],
  ...[await keptCustomer(), await keptCustomer()],
] as const

t.test('what cannot be topped up is refused, and nothing is charged', async t => {
  const stranger = await openAccount(service, { credits: 1 })
  t.match(await refusalOf(stranger.send('/v1/top_up', jsonOf('PUT', wanted))), {
    ...{ status: 400, message: /no kept payment method/ },
  })
  t.match(await refusalOf(stranger.send('/v1/top_up')), { status: 404 })
  t.match(await refusalOf(stranger.send('/v1/top_up', { method: 'DELETE' })), { status: 404 })
  const { set, topUp } = await keptCustomer()
  const cases: [object, object][] = [
    [{ begin_at_once: false }, { errors: [{ path: '/begin_at_once' }] }],
    [{ credits: undefined }, { message: /either `credits` or `target_credits`/ }],
    [{ target_credits: 500 }, { message: /either/ }],
    [{ credits: 99 }, { errors: [{ path: '/credits' }] }],
    [{ credits: undefined, target_credits: 100 }, { errors: [{ path: '/target_credits' }] }],
    [{ credits: undefined, target_credits: 150 }, { errors: [{ path: '/credits' }] }],
    [{ monthly_amount: '12.49' }, { errors: [{ path: '/monthly_amount', message: 'must be at least 12.50' }] }],
    [{ monthly_amount: '50' }, { errors: [{ path: '/monthly_amount' }] }],
    [{ monthly_amount: '-1.00' }, { errors: [{ path: '/monthly_amount' }] }],
    [{ below_credits: 0 }, { errors: [{ path: '/below_credits' }] }],
    [{ below_credits: 0.1234567 }, { errors: [{ path: '/below_credits' }] }],
  ]
  for (const [change, refusal] of cases)
    t.match(await refusalOf(set({ ...wanted, ...change })), { status: 400, ...refusal }, JSON.stringify(change))
  t.equal((await topUp()).status, 404)
})

t.test(`${RUNS} parallel runs start one top-up`, async t => {
  const { customer, set, topUp, topUps, charges, balance } = await keptCustomer()
  t.match(await set({ ...wanted, below_credits: 101 }), { status: 200, body: { failures: 0, currency: 'EUR' } })
  t.equal((await topUps()).length, 0, 'the limit itself is enough')
  const answers = await Promise.all(Array.from({ length: RUNS }, () => customer.run(sandbox())))
  await until('the top-up is paid', async () => (await topUps())[0]?.status === 'paid')
  await reports.settled()
  const accepted = answers.filter(({ status }) => status === 200).length
  t.equal(await balance(), 1101 - accepted)
  t.equal(charges().length, 2)
  t.match(await topUps(), [{ status: 'paid', top_up: true, credits: 1000, amount: '12.50', country: 'DE' }])
  t.match((await topUp()).body, { monthly_amount_paid: '12.50', failures: 0, due_at: undefined })
  t.equal((await customer.send('/v1/top_up', { method: 'DELETE' })).status, 200)
})

t.test('top-ups that are turned off right after they were set are answered as they were set', async t => {
  const { customer, set } = await keptCustomer()
  const { accounts } = service.core
  const execute = accounts.execute.bind(accounts)
  accounts.execute = async (caller, accountId, command) => {
    const outcome = await execute(caller, accountId, command)
    if (command.type === 'SetTopUp') await execute(caller, accountId, { type: 'RemoveTopUp' })
    return outcome
  }
  t.match(await set({ ...wanted, below_credits: 50 }), { status: 200, body: { below_credits: 50, failures: 0 } })
  accounts.execute = execute
  t.equal((await customer.send('/v1/top_up')).status, 404)
})

t.test('a target is reached in whole credits', async t => {
  const { customer, set, topUps, balance } = await keptCustomer()
  await set({ begin_at_once: true, below_credits: 102.5, target_credits: 300.5, monthly_amount: '50.00' })
  await until('the top-up is paid', async () => (await topUps())[0]?.status === 'paid')
  t.match(await topUps(), [{ credits: 200 }])
  t.equal(await balance(), 301)
  const { data } = (await customer.send<LedgerList>('/v1/ledger')).body
  t.same(data[0]?.payment, { amount: '2.50', currency: 'EUR' }, 'Stripe makes no invoice')
})

t.test('a bank that takes days is waited for', async t => {
  const { methodId, set, topUp, topUps, charges, balance } = await keptCustomer()
  stripe.setCard(methodId, 'async')
  await set({ ...wanted, below_credits: 102 })
  const charge = await until('Stripe is asked', () => charges()[1])
  t.equal(await balance(), 101)
  t.match((await topUp()).body, { purchase_id: (await topUps())[0]?.id })
  stripe.settleCharge(charge.id)
  await reports.settled()
  t.equal(await balance(), 1101)
})

t.test('a charge whose answer is lost is found, not made again', async t => {
  const { set, topUps, charges } = lost
  reports.isHeld = true
  const route = 'POST /v1/payment_intents'
  const asked = () => stripe.requestsTo(route).length
  const before = asked()
  stripe.fail('lost', 2, route)
  await set({ ...wanted, below_credits: 102 })
  await until('Stripe has charged, twice in vain', () => asked() === before + 2)
  stripe.recover()
  stripe.idempotencyKeys.forget()
  await clock.later('the top-up is paid', async () => (await topUps())[0]?.status === 'paid')
  t.equal(charges().length, 2)
  t.equal(asked(), before + 2)
  reports.isHeld = false
  await reports.settled()
})

t.test('nobody is charged who was suspended since the attempt began', async t => {
  const { customer, set, topUp, topUps, charges } = suspended
  const { accounts } = service.core.services
  stripe.fail('down')
  await set({ ...wanted, below_credits: 102 })
  await until('the attempt has begun', async () => (await topUp()).body.purchase_id !== undefined)
  unwrap(await accounts.suspend(operator, customer.accountId, 'abuse'))
  stripe.recover()
  const asked = () => stripe.requestsTo('GET /v1/payment_intents').length
  const before = asked()
  await clock.later('Stripe is asked about it', () => asked() > before)
  t.equal(charges().length, 1)
  unwrap(await accounts.resume(operator, customer.accountId, 'settled'))
  await clock.later('the top-up is paid', async () => (await topUps())[0]?.status === 'paid')
  t.equal(charges().length, 2)
})

t.test('what is under way when top-ups are turned off is given up if Stripe has not charged', async t => {
  const { customer, set, topUp, topUps, charges } = leaving
  const asked = () => stripe.requestsTo('GET /v1/checkout/sessions/').length
  const before = asked()
  stripe.fail('error')
  await set({ ...wanted, below_credits: 102 })
  await until('Stripe was asked in vain, and again', () => asked() >= before + 2)
  t.equal((await customer.send('/v1/top_up', { method: 'DELETE' })).status, 200)
  stripe.recover()
  await clock.later('it has ended', async () => (await topUps())[0]?.status === 'expired')
  t.equal(charges().length, 1)
  t.equal((await topUp()).status, 404)
})

t.test('a top-up that is no longer needed is no failure', async t => {
  const { methodId, customer, set, topUp, topUps } = helped
  stripe.setCard(methodId, 'declined')
  await set({ begin_at_once: true, below_credits: 102, target_credits: 300, monthly_amount: '50.00' })
  await until('it has failed', async () => (await topUp()).body.failures === 1)
  const grant = { kind: 'courtesy', amountMicros: 500e6, reference: 'gift', reason: 'a gift' } as const
  unwrap(await service.core.services.accounts.grant(operator, customer.accountId, grant))
  clock.skip(HOUR_MS)
  const { body } = await until('it is settled', async () => {
    const shown = await topUp()
    return shown.body.due_at === undefined && shown
  })
  t.equal(body.failures, 1)
  t.equal((await topUps()).length, 1)
})

t.test('after three failures, top-ups are off, and the owner is told', async t => {
  const { methodId, customer, set, topUp, topUps, charges } = declined
  stripe.setCard(methodId, 'declined')
  await set({ ...wanted, below_credits: 102 })
  for (const [failures, hours] of [
    [1, 1],
    [2, 24],
  ] as const) {
    const { body } = await until('it has failed', async () => {
      const shown = await topUp()
      return shown.body.failures === failures && shown
    })
    t.equal(Math.round((Date.parse(body.due_at as string) - clock.nowMs()) / HOUR_MS), hours)
    clock.skip(hours * HOUR_MS)
  }
  await until('top-ups are off', async () => (await topUp()).status === 404)
  t.match(await topUps(), Array(3).fill({ status: 'failed' }))
  t.equal(charges().length, 4)
  await customer.run(sandbox())
  t.equal((await topUps()).length, 3)
})

t.test('a service that cannot charge offers no top-ups', async (t: Test) => {
  const other = await startSales(t, { environment: { AUTOMATIC_TAX: 'true' } })
  const customer = await openAccount(other, { credits: 1 })
  t.match(await refusalOf(customer.send('/v1/top_up', jsonOf('PUT', wanted))), {
    ...{ status: 400, message: /cannot charge kept payment methods/ },
  })
})
