import t from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import type { Purchase } from '../../schemas/api/purchase.ts'
import { customAmount, priceList } from '../support/pack-samples.ts'
import { purchaseId } from '../support/purchase-samples.ts'
import { startSales } from '../support/sales.ts'
import { instantProvider, openAccount, openKey } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startSales(t, { providers: { sandbox: instantProvider } })
const { stripe, reports } = service

const sessionOf = (purchase: Purchase) => /cs_\w+/.exec(purchase.url as string)?.[0] as string

t.test('a customer returns only to pages of the web', async t => {
  const customer = await openAccount(service)
  const urls = {
    'javascript:alert(1)': /http or https/,
    'data:text/html,<script>alert(1)</script>': /http or https/,
    'ftp://example.com/': /http or https/,
    'file:///etc/passwd': /http or https/,
    'https://ada:secret@example.com/': /user name or password/,
    'http://example.com:0/': /host or port/,
    [`https://example.com/${'x'.repeat(2048)}`]: /2048 characters/,
  }
  for (const name of ['success_url', 'cancel_url'])
    for (const [url, message] of Object.entries(urls)) {
      const { status, body } = await customer.post('/v1/purchases', {
        begin_at_once: true,
        pack: 'starter',
        [name]: url,
      })
      t.equal(status, 400, url)
      t.match(body.error, { code: 'invalid_request', message, errors: [{ path: `/${name}`, message: String }] }, url)
    }
  t.equal(stripe.requestsTo('POST /v1/checkout/sessions').length, 0)
  const success_url = 'https://app.example.com/bought?session={CHECKOUT_SESSION_ID}'
  const { status, body } = await customer.post<Purchase>('/v1/purchases', {
    ...{ pack: 'starter', begin_at_once: true, success_url },
  })
  t.equal(status, 200, JSON.stringify(body))
  t.equal(stripe.session(sessionOf(body)).success_url, success_url)
})

t.test('nothing but a JSON object of a fair size opens a purchase', async t => {
  const customer = await openAccount(service)
  const json = JSON.stringify({ pack: 'starter' })
  const post = (body: string, type: string) =>
    customer.send('/v1/purchases', { method: 'POST', body, headers: { 'Content-Type': type } })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
    t.match(await post(json, type), { status: /^4(00|15)$/ }, type)
  for (const body of ['', 'null', '[]', '"starter"', '{"pack":{"$ne":null}}', '{"credits":1e400}', '{"credits":-5}'])
    t.equal((await post(body, 'application/json')).status, 400, body)
  for (const body of ['{"pack":"starter","amount":"0.01"}', '{"pack":"starter","id":"pur_1"}'])
    t.equal((await post(body, 'application/json')).status, 400, body)
  for (const credits of [100.0000001, 0, 99.999999, 50_000.000001, 1e15])
    t.equal((await customer.post('/v1/purchases', { credits })).status, 400, String(credits))
  t.equal((await post(`{"pack":"${'x'.repeat(2_000_000)}"}`, 'application/json')).status, 413)
  t.match((await customer.send<{ data: [] }>('/v1/purchases')).body.data, [])
})

t.test('IDs that are no IDs, or of others, are not found', async t => {
  const [owner, thief] = [await openAccount(service), await openAccount(service)]
  const { body: purchase } = await owner.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
  const asked = stripe.requests.length
  for (const id of [purchase.id, `${owner.accountId}%2f${purchase.id}`, `..%2f${purchase.id}`, '%00', 'pur_%2e%2e%2f'])
    t.match(await thief.sendRaw(`/v1/purchases/${id}`), { status: /^40[04]$/ }, id)
  t.match(await thief.sendRaw(`/v1/purchases/${purchaseId()}`), { status: 404 })
  t.equal(stripe.requests.length, asked, 'Stripe is not asked')
})

t.test('keys that may not spend buy nothing', async t => {
  const owner = await openAccount(service)
  for (const scope of ['read', 'keys'] as const) {
    const key = await openKey(service, owner, { scope })
    t.equal((await key.post('/v1/purchases', { begin_at_once: true, pack: 'starter' })).status, 403, scope)
  }
  t.equal((await service.client().post('/v1/purchases', { begin_at_once: true, pack: 'starter' })).status, 401)
})

t.test('whoever reloads a page all the time does not use up what Stripe allows', async t => {
  const customer = await openAccount(service)
  const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
  const asked = () => stripe.requestsTo('GET /v1/checkout/sessions/').length
  const before = asked()
  const look = () => customer.send<Purchase>(`/v1/purchases/${purchase.id}`)
  const answers = await Promise.all(Array.from({ length: 200 }, look))
  t.ok(answers.every(({ status, body }) => status === 200 && body.status === 'open'))
  t.ok(asked() - before <= 20, `Stripe was asked ${asked() - before} times`)
  reports.isHeld = true
  stripe.pay(sessionOf(purchase))
  const paidAtMs = performance.now()
  while ((await look()).body.status !== 'paid' && performance.now() < paidAtMs + 10_000);
  t.ok(performance.now() - paidAtMs < 2_500, 'the credits are there within two seconds')
  reports.release()
  await reports.settled()
})

t.test('50 purchases at once are not more than an hour allows', async t => {
  const customer = await openAccount(service)
  const replies = await Promise.all(
    Array.from({ length: 50 }, () =>
      customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' }),
    ),
  )
  t.equal(replies.filter(({ status }) => status === 200).length, 10)
  t.equal(replies.filter(({ status }) => status === 429).length, 40)
  const other = await openAccount(service)
  t.equal(
    (await other.post('/v1/purchases', { begin_at_once: true, pack: 'starter' })).status,
    200,
    'another account buys',
  )
})

t.test('a name and an address of any length lock nobody out', async t => {
  const customer = await openAccount(service, { credits: 1 })
  const { body: purchase } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
  stripe.pay(sessionOf(purchase), { name: `${'Å'.repeat(499)}${'🎈'.repeat(1000)}`, country: 'unknown' })
  await reports.settled()
  t.match((await customer.send<Balance>('/v1/balance')).body, { credits_balance: 1001 })
})

t.test('what Stripe refuses is refused with its code, and is no purchase', async t => {
  const customer = await openAccount(service)
  const operator = { kind: 'operator', name: 'test' } as const
  const { priceList: prices } = service.core.services
  const cheap = { ...priceList, customAmount: customAmount({ minCreditsMicros: 1_000_000 }) }
  unwrap(await prices.publish(operator, cheap))
  // 0.02 EUR.
  const { status, body } = await customer.post('/v1/purchases', { begin_at_once: true, credits: 1 })
  t.equal(status, 400, JSON.stringify(body))
  t.match(body.error, { code: 'invalid_request', message: /payment service refuses it \(amount_too_small\)/ })
  const { data } = (await customer.send<{ data: Purchase[] }>('/v1/purchases')).body
  t.match(data, [{ status: 'failed', credits: 1 }])
  unwrap(await prices.publish(operator, priceList))
})
