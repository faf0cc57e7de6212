import t from 'tap'
import type { Balance } from '../../schemas/api/balance.ts'
import type { Purchase } from '../../schemas/api/purchase.ts'
import { accountStream } from '../../schemas/events.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { BrowserClient, messagesIn, wordsOf } from '../support/browser-client.ts'
import { Client, picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { auditLog } from '../support/ledger.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startSales } from '../support/sales.ts'
import { instantProvider, openAccount } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'
import { verified } from '../support/verified.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const PAGE = '/console/credits'
const operator = { kind: 'operator', name: 'test' } as const

const clock = new ManualClock(Date.now())
const service = await startSales(t, {
  ...{ clock, providers: { sandbox: instantProvider } },
  environment: { TRUSTED_PROXIES: '127.0.0.1' },
})
const { stripe, reports, url } = service
const { services, log } = service.core

const payFor = async (purchase: Purchase) => {
  const sessionId = /cs_\w+/.exec(purchase.url as string)?.[0] as string
  await stripe.pay(sessionId)
  await reports.settled()
  return String(stripe.session(sessionId).payment_intent)
}

/** An owner in a browser, who has bought a thousand credits for 12.50 EUR. */
const openBuyer = async () => {
  const browser = new BrowserClient(url)
  const email = `${crypto.randomUUID()}@example.com`
  await browser.signIn(service, email)
  const { accountId } = unwrap(await services.accounts.findByEmail(operator, email)).account
  const client = new Client(url, unwrap(await services.keys.create(operator, accountId, { name: 'k' })).apiKey)
  const { body: purchase } = await client.post<Purchase>('/v1/purchases', { pack: 'starter', begin_at_once: true })
  const paymentId = await payFor(purchase)
  const path = `${PAGE}/purchases/${purchase.id}`
  const words = async (at: string) => wordsOf((await browser.get(at)).text)
  const typesIn = async () => (await collect(log.readStream(accountStream(accountId), 0))).map(({ type }) => type)
  /** As people read them, without the breaks of long lines. */
  const receipts = async () =>
    (await messagesIn(service))
      .filter(mail => mail.includes(`To: ${email}\r\n`) && /^Subject: .*withdrawal/m.test(mail))
      .map(mail => mail.replaceAll('=\r\n', ''))
  return { browser, client, email, path, purchase, paymentId, words, typesIn, receipts }
}

const refundsOf = (paymentId: string) =>
  stripe.store.all('refund').filter(({ payment_intent }) => payment_intent === paymentId)

t.test('an owner withdraws in two steps without a script, and gets the rest back and a receipt', async t => {
  const { browser, client, email, path, purchase, paymentId, words, typesIn, receipts } = await openBuyer()
  // The welcome credits are free, and used first.
  for (let run = 0; run < 11; run++) t.equal((await client.run(picture)).status, 200)
  const { credits_paid: leftCredits } = (await client.send<Balance>('/v1/balance')).body
  t.equal(leftCredits, 990)
  t.match((await browser.get(PAGE)).text, `href="${path}/withdrawal"`)
  t.match(await words(PAGE), 'Withdraw from contract here')
  t.match(await words(path), /Withdraw from contract here .* Withdrawal until \d{4}-\d\d-\d\d 12:00:00 UTC/)
  const preview = await words(`${path}/withdrawal`)
  t.match(preview, /get 12\.37 EUR back to your payment method\. Your account loses 989\.6 credits/)
  t.match(preview, `Receipt by mail to ${email}`)
  t.match(preview, 'Confirm withdrawal')
  t.notOk((await typesIn()).includes('WithdrawalDeclared'), 'looking declares nothing')

  const { status, location } = await browser.post(`${path}/withdrawal`)
  t.same([status, location], [303, path])
  const after = await words(path)
  t.match(after, /Withdrawn You have withdrawn from the contract/)
  const [, at = ''] = /Withdrawal received at (\S+ \S+ UTC) , you get 12\.37 EUR back/.exec(after) ?? []
  t.match(at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
  t.notMatch(await words(PAGE), 'Withdraw from contract here')
  t.equal(await client.balance(), 0.4, 'the rest is worth less than a cent')

  const [mail = ''] = await until('the receipt arrives', async () => {
    const found = await receipts()
    return found.length > 0 && found
  })
  t.match(mail, `Received:  ${at}`)
  t.match(mail, `Purchase:  ${purchase.id}`)
  t.match(mail, 'Contract:  1000 credits for 12.50 EUR')
  t.match(mail, 'Paid back: 12.37 EUR')
  t.match(mail, `${path}`)
  await until('Stripe refunds', () => refundsOf(paymentId).length > 0)
  await reports.settled()

  t.same((await browser.post(`${path}/withdrawal`)).location, path, 'a second click changes nothing')
  t.same((await browser.get(`${path}/withdrawal`)).location, path)
  t.equal((await typesIn()).filter(type => type === 'WithdrawalDeclared').length, 1)
  t.match(refundsOf(paymentId), [{ amount: 1237 }])
  t.equal((await receipts()).length, 1)
  t.match((await client.send<Purchase>(`/v1/purchases/${purchase.id}`)).body, {
    withdrawal: { declared_at: String, amount: '12.37', currency: 'EUR' },
    claims: [{ kind: 'refund', amount: '12.37' }],
  })
})

t.test('a withdrawal whose refund fails says so', async t => {
  const { client, path, purchase, paymentId, words } = await openBuyer()
  t.equal((await client.post(`/v1/purchases/${purchase.id}/withdrawal`, {})).status, 200)
  const refund = await until('Stripe refunds', () => refundsOf(paymentId)[0])
  stripe.failRefund(refund.id)
  await reports.settled()
  t.match(await words(path), /The refund to your payment method failed\. Ask the seller to return the money in another/)
  t.match(await words(path), /Withdrawal received at .* the refund of 12\.50 EUR failed/)
})

t.test('a program withdraws, also if the notices of the account are off, and twice is once', async t => {
  const { client, purchase, paymentId, receipts } = await openBuyer()
  t.equal((await client.send('/v1/notices', { method: 'PUT', ...json({ email: false }) })).status, 200)
  const { body: before } = await client.send<Purchase>(`/v1/purchases/${purchase.id}`)
  t.match(before, { withdrawal_until: /T12:00:00\.000Z$/ })
  const path = `/v1/purchases/${purchase.id}/withdrawal`
  const answers = await Promise.all([1, 2, 3].map(() => client.post<Purchase>(path, {})))
  for (const { status, body } of answers) {
    t.equal(status, 200)
    t.match(body, { status: 'paid', withdrawal: { amount: '12.50' } })
    t.notOk('withdrawal_until' in body)
  }
  await until('the receipt arrives', async () => (await receipts()).length > 0)
  await until('Stripe refunds', () => refundsOf(paymentId).length > 0)
  await reports.settled()
  t.match(refundsOf(paymentId), [{ amount: 1250 }])
  t.equal((await client.send<Purchase>(`/v1/purchases/${purchase.id}`)).body.claims?.length, 1)
})

t.test('nobody withdraws from a purchase of another account, or from one that was not paid', async t => {
  const { purchase, path } = await openBuyer()
  const other = await openBuyer()
  for (const id of [purchase.id, 'pur_00000000000000000000000000'])
    t.match(await other.client.post(`/v1/purchases/${id}/withdrawal`, {}), { status: 404 })
  t.match(await other.client.post('/v1/purchases/x/withdrawal', {}), { status: /^40[04]$/ })
  t.equal((await other.browser.get(`${path}/withdrawal`)).status, 404)
  t.equal((await other.browser.post(`${path}/withdrawal`)).status, 404)
  const customer = await openAccount(service)
  const { body: open } = await customer.post<Purchase>('/v1/purchases', { pack: 'starter', begin_at_once: true })
  const { status, body } = await customer.post<{ error: object }>(`/v1/purchases/${open.id}/withdrawal`, {})
  t.equal(status, 400)
  t.match(body.error, { message: /has not been paid/ })
})

t.test('the log of withdrawals has no faults', async t => {
  t.same((await auditLog(log)).faults, [])
  t.same((await verified(await collect(log.readAll(BEFORE_FIRST)), { isDense: true })).faults, [])
})

t.test('after its time, a withdrawal is refused, and nothing offers it', async t => {
  const { browser, client, purchase, path, words, typesIn } = await openBuyer()
  clock.advance(18 * DAY_MS)
  const { status, body } = await client.post<{ error: object }>(`/v1/purchases/${purchase.id}/withdrawal`, {})
  t.equal(status, 400)
  t.match(body.error, { code: 'invalid_request', message: /ended at \d{4}-\d\d-\d\d 12:00 UTC/ })
  t.notMatch(await words(PAGE), 'Withdraw from contract here')
  const late = await browser.get(`${path}/withdrawal`)
  t.equal(late.status, 400)
  t.match(wordsOf(late.text), 'The right to withdraw from this contract ended at')
  t.equal((await browser.post(`${path}/withdrawal`)).status, 400)
  t.notOk((await typesIn()).includes('WithdrawalDeclared'))
})

const json = (body: object) => ({ headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
