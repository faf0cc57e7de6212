import t, { type Test } from 'tap'
import type { Purchase } from '../../../schemas/api/purchase.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { collect } from '../../support/collect.ts'
import { openLog, silentLogger } from '../../support/engine.ts'
import { answerLost, type Fate, unavailable } from '../../support/faulty-log.ts'
import { startSales } from '../../support/sales.ts'
import { type Customer, instantProvider, openAccount, type ServiceOptions } from '../../support/service.ts'
import { eventOf, type StubEvent } from '../../support/stripe/events.ts'

const start = async (t: Test, options: ServiceOptions = {}) => {
  const errors: { facts: object; message: string }[] = []
  const logger = {
    ...silentLogger,
    error: (facts: object, message: string) => errors.push({ facts, message }),
  }
  const sales = await startSales(t, { providers: { sandbox: instantProvider }, logger, ...options })
  const { stripe, reports } = sales
  const customer = await openAccount(sales, { credits: 1 })
  reports.isHeld = true
  /** A payment of which nothing was reported so far, and its event. */
  const paid = async () => {
    const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
    stripe.pay(/cs_\w+/.exec(purchase.url as string)?.[0] as string)
    const event = stripe.eventsOf('checkout.session.completed').at(-1) as StubEvent
    return { purchase, event }
  }
  return { ...sales, customer, paid, errors }
}

const typesOf = async ({ core }: { core: { log: EventLog } }, { accountId }: Customer) =>
  (await collect(core.log.readStream(accountStream(accountId), 0))).map(({ type }) => type)

/** The event about another object. */
const changed = (event: StubEvent, changes: object): StubEvent =>
  ({ ...event, id: `evt_${crypto.randomUUID()}`, data: { object: { ...event.data.object, ...changes } } }) as StubEvent

t.test('1,000 repeated and forged reports append one payment, and stop nobody', async t => {
  const service = await start(t)
  const { reports, customer, paid } = service
  const { event } = await paid()
  const before = (await typesOf(service, customer)).length
  const startMs = performance.now()
  const statuses = await Promise.all(
    Array.from({ length: 1000 }, (_, index) =>
      // Forged ones wait, so that the network is not limited before the true ones have come.
      index % 2 === 0 ? reports.post(event) : undefined,
    ),
  )
  t.same(new Set(statuses.filter(Boolean)), new Set([204]))
  const forged = await Promise.all(
    Array.from({ length: 500 }, () => reports.post(event, { secrets: ['whsec_forged'] })),
  )
  t.same(new Set(forged), new Set([400, 429]))
  t.equal(await customer.balance(), 1001)
  t.ok(performance.now() - startMs < 30_000)
  t.same((await typesOf(service, customer)).slice(before), ['PurchasePaid', 'CreditsGranted'])
})

t.test('a report whose append fails is answered with 5xx, and counts when it is sent again', async t => {
  const inner = await openLog(t)
  const fates: Fate[] = []
  const log: EventLog = {
    ...inner,
    append: (...append) => {
      const fate = fates.shift()
      return fate ? fate(() => inner.append(...append)) : inner.append(...append)
    },
  }
  const service = await start(t, { log })
  const { reports, customer, paid } = service
  for (const fate of [unavailable, answerLost]) {
    const { event } = await paid()
    const before = await customer.balance()
    // More than the mailbox itself tries.
    fates.push(...Array.from({ length: 20 }, () => fate))
    const status = await reports.post(event)
    fates.splice(0)
    if (fate === unavailable) {
      t.equal(status, 503)
      t.equal(await customer.balance(), before)
    }
    t.equal(await reports.post(event), 204)
    t.equal(await customer.balance(), before + 1000)
  }
  t.equal((await typesOf(service, customer)).filter(type => type === 'PurchasePaid').length, 2)
})

t.test('reports that concern no purchase of ours are taken and ignored', async t => {
  const service = await start(t)
  const { core, stripe, reports, customer, paid, errors } = service
  const { purchase, event } = await paid()
  const other = await openAccount(service, { credits: 1 })
  const metadata = { purchase: purchase.id, account: other.accountId }
  const cases: [string, StubEvent, boolean][] = [
    ['of another account', changed(event, { metadata }), true],
    ['of an account that does not exist', changed(event, { metadata: { ...metadata, account: 'acct_none' } }), false],
    [
      'of an unknown account',
      changed(event, { metadata: { ...metadata, account: `${other.accountId.slice(0, -2)}00` } }),
      true,
    ],
    [
      'of an unknown purchase',
      changed(event, { metadata: { purchase: `${purchase.id.slice(0, -2)}00`, account: customer.accountId } }),
      true,
    ],
    ['of no purchase', changed(event, { metadata: {} }), false],
    ['with a path for a purchase', changed(event, { metadata: { purchase: '../x%2f', account: '%2f' } }), false],
    ['of an unknown kind', { ...event, type: 'radar.early_fraud_warning.created' } as StubEvent, false],
    ['of the live mode', { ...event, livemode: true }, false],
    ['of a thin event', { ...event, data: { object: {} } } as StubEvent, false],
  ]
  const before = await core.log.head()
  for (const [name, sent, isLogged] of cases) {
    errors.splice(0)
    t.equal(await reports.post(sent), 204, name)
    t.equal(errors.length, isLogged ? 1 : 0, name)
    for (const { facts } of errors)
      t.same(Object.keys(facts), ['accountId', 'purchaseId', 'refused'], 'nothing about the customer is logged')
  }
  t.same(await core.log.head(), before, 'nothing is appended')
  t.equal(await other.balance(), 1)
  // Another shop in the same account at Stripe, in a currency that is no longer in use.
  const refund = {
    object: 'refund',
    id: 're_1',
    amount: 5,
    currency: 'bgn',
    payment_intent: 'pi_1',
    status: 'succeeded',
  }
  t.equal(await reports.post(eventOf(stripe.store, 'refund.created', refund as never)), 204)
  t.equal(await reports.post(event), 204)
  t.equal(await customer.balance(), 1001)
})

t.test('signed reports that nobody can read are refused, and the operator sees them', async t => {
  const { core, reports, customer, paid, errors } = await start(t)
  const { event } = await paid()
  const claim = { payment_intent: 'pi_1', amount: 5, currency: 'eur', status: 'succeeded' }
  const cases: object[] = [
    { ...event, data: null },
    { ...event, data: {} },
    { ...event, data: { object: null } },
    ...[null, undefined, 5].map(currency => changed(event, { currency })),
    ...[null, undefined, 12.5, '1250', -1250, 1e12].map(amount_total => changed(event, { amount_total })),
    { ...event, type: 'refund.created', data: { object: { ...claim, amount: null } } },
    { ...event, type: 'charge.dispute.created', data: { object: { ...claim, status: undefined } } },
  ]
  const before = await core.log.head()
  for (const sent of cases) {
    errors.splice(0)
    t.equal(await reports.post(sent as StubEvent), 400, JSON.stringify(sent).slice(0, 300))
    t.match(errors, [{ facts: { err: { name: 'ReportUnreadable' } } }])
    t.equal(errors.length, 1)
  }
  t.same(await core.log.head(), before, 'nothing is appended')
  t.equal(await reports.post(event), 204)
  t.equal(await customer.balance(), 1001)
})

t.test('bodies that are no report are refused or ignored', async t => {
  const { url, client, customer, paid, reports } = await start(t)
  await paid()
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const { status } = await fetch(`${url}/callbacks/stripe`, { method: 'POST', body, headers })
    return status
  }
  t.equal(await send('x'.repeat(1024 * 1024 + 1), { 'Stripe-Signature': 't=1,v1=0' }), 413)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json',
  ])
    t.equal(await send('{}', { 'Content-Type': type }), 400, type)
  t.equal(await send('', { 'Stripe-Signature': 'v1=' }), 400)
  t.equal(await send('{}', { 'Stripe-Signature': `t=${'9'.repeat(400)},v1=${'0'.repeat(64)}` }), 400)
  for (const path of ['/callbacks/%2fstripe', '/callbacks/stripe%2f', '/callbacks/stripe/x'])
    t.equal((await client().sendRaw(path, { method: 'POST', body: '{}' })).status, 404, path)
  t.equal((await client().sendRaw('/callbacks/stripe')).status, 405)
  // Signed, and yet it says nothing.
  const event = { ...reports.held[0], type: 'v2.core.event', data: undefined } as unknown as StubEvent
  t.equal(await reports.post(event), 204)
  t.equal(await customer.balance(), 1)
})
