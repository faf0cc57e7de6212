import t from 'tap'
import { BrowserClient, wordsOf } from '../support/browser-client.ts'
import { Client, picture } from '../support/client.ts'
import { readCredits } from '../support/credits-page.ts'
import { priceList } from '../support/pack-samples.ts'
import { startSales } from '../support/sales.ts'
import { instantProvider, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'test' } as const
const PAGE = '/console/credits'
const service = await startSales(t, {
  providers: { sandbox: instantProvider },
  environment: { TRUSTED_PROXIES: '127.0.0.1', PURCHASES_PER_HOUR: '12' },
})
const { stripe, reports, url } = service
const { services } = service.core

/** An owner in a browser, who can buy at the stub. */
const openBuyer = async () => {
  const browser = new BrowserClient(url)
  const email = `${crypto.randomUUID()}@example.com`
  await browser.signIn(service, email)
  const { accountId } = unwrap(await services.accounts.findByEmail(operator, email)).account
  const page = async (path = PAGE) => {
    const { status, text } = await browser.get(path)
    return { status, text, words: wordsOf(text) }
  }
  /** Opens a purchase by the form of the page. */
  const open = async (fields: Record<string, string> = { pack: 'starter' }) => {
    await browser.get(PAGE)
    const { status, location } = await browser.post(PAGE, { begin_at_once: 'true', ...fields })
    t.equal(status, 303)
    const id = /^\/console\/credits\/purchases\/(pur_\w+)\/pay$/.exec(location ?? '')?.[1] ?? ''
    const { headers, text } = await browser.get(location ?? '')
    const checkout = /^0; url=(.*)$/.exec(headers.get('Refresh') ?? '')?.[1] ?? ''
    t.match(text, `href="${checkout}"`, 'a link for browsers that do not go on by themselves')
    return { id, path: `${PAGE}/purchases/${id}`, checkout, session: /cs_\w+/.exec(checkout)?.[0] ?? '' }
  }
  const pay = async (session: string) => {
    await stripe.pay(session, { country: 'DE', tax: 200 })
    await reports.settled()
    return String(stripe.session(session).payment_intent)
  }
  const run = async (times: number) => {
    const { apiKey } = unwrap(await services.keys.create(operator, accountId, { name: 'k' }))
    const client = new Client(url, apiKey)
    for (let count = 0; count < times; count++) t.equal((await client.run(picture)).status, 200)
  }
  return { browser, accountId, page, open, pay, run }
}

t.test('the page shows what is for sale, with the price in the button', async t => {
  const { page } = await openBuyer()
  const { words, text } = await page()
  t.match(words, /Starter 1,000 credits Does not expire Buy for 12\.50 EUR : Starter/)
  t.match(words, /Studio 10,500 credits 500 of them are a bonus Valid for 365 days Buy for 119\.00 EUR : Studio/)
  t.match(words, /Another amount 100 to 50,000 credits Show price 0\.0125 EUR a credit, does not expire/)
  t.notMatch(text, 'aria-current="true" id="pack')
  t.notMatch(words, 'You owe')
  t.notMatch(text, 'id="purchases"', 'nothing was bought')
})

t.test('the links of refused runs choose a pack, or fill in the amount and show its price', async t => {
  const { page } = await openBuyer()
  t.match((await page(`${PAGE}?pack=studio`)).text, /id="pack-studio" class="chosen" aria-current="true"/)
  const gone = await page(`${PAGE}?pack=gone`)
  t.equal(gone.status, 200)
  t.match(gone.words, 'This pack is no longer for sale. Please choose another one.')
  const amount = await page(`${PAGE}?credits=250`)
  t.match(amount.text, / id="credits"[^>]* value="250"/)
  t.match(amount.words, 'Buy 250 credits for 3.13 EUR')
  for (const credits of ['99', '50001', '1.0000001', 'ten', '1e3'])
    t.match(
      (await page(`${PAGE}?credits=${credits}`)).words,
      'Choose 100 to 50,000 credits, with at most six decimals.',
      credits,
    )
})

t.test('without the consent to begin at once, the form comes again and says so', async t => {
  const { browser, page } = await openBuyer()
  const { text, words } = await page()
  t.match(text, /<input[^>]* name="begin_at_once"[^>]* required/)
  t.match(words, 'Give me the credits at once, although I may withdraw from the contract for 14 days.')
  const answer = await browser.post(PAGE, { credits: '250' })
  t.equal(answer.status, 400)
  t.match(wordsOf(answer.text), 'Tick this box to get the credits at once. Nothing was bought.')
  t.match(answer.text, /<input[^>]* aria-describedby="begin_at_once-fault"/)
  t.match(wordsOf(answer.text), 'Buy 250 credits for 3.13 EUR')
  t.notMatch((await page()).text, 'id="purchases"')
})

t.test('a service without a payment service offers nothing, and refuses forms', async t => {
  const other = await startService(t)
  unwrap(await other.core.services.priceList.publish(operator, priceList))
  const browser = new BrowserClient(other.url)
  await browser.signIn(other, 'ada@example.com')
  t.notMatch((await browser.get(PAGE)).text, 'Buy credits')
  const { status, text } = await browser.post(PAGE, { pack: 'starter' })
  t.equal(status, 400)
  t.match(wordsOf(text), 'This service sells no credits. Ask its operator for credits.')
})

t.test('a buyer pays a pack, and the page to which they return has the credits, whatever is late', async t => {
  const { browser, page, open, run } = await openBuyer()
  const { id, path, checkout, session } = await open({ pack: 'studio' })
  t.equal(new URL(checkout).origin, stripe.url)
  reports.isHeld = true
  const before = await browser.get(path)
  t.match(wordsOf(before.text), /Your payment has not arrived yet.*This page reloads itself.*Continue to payment/)
  t.equal(before.headers.get('Refresh'), '5')
  t.match((await page()).words, /Purchases Opened Credits Price Status Invoice .* 10,500 .*119\.00 EUR Not paid yet/)

  await stripe.pay(session, { country: 'DE', tax: 1900 })
  const after = await browser.get(path)
  t.equal(after.headers.get('Refresh'), null)
  t.match(wordsOf(after.text), /^.*10,600/, 'the balance beside the page has the credits')
  t.match(wordsOf(after.text), /10,500 credits for 119\.00 EUR Paid Thank you\. Your payment has arrived/)
  t.match(wordsOf(after.text), /Tax 19\.00 EUR, included in the price \(DE\) Invoice See the invoice/)
  t.match(await browser.get(`${path}/invoice`), { status: 303, location: /\/i\/in_\w+$/ })
  reports.release()
  await reports.settled()
  reports.isHeld = false

  await run(1)
  const { text, words } = await page()
  const { figures } = readCredits(text)
  t.same(figures.slice(0, 2), [10_590e6, 10_000e6])
  t.match(words, /credits; 10,490 expire on \d{4}-\d\d-\d\d/)
  t.match(words, /10,500 credits 119\.00 EUR Paid \w+/)
  t.match(text, `href="${path}"`)
  t.equal((await browser.get(`${path}/pay`)).location, path, 'there is nothing left to pay')
  t.match(id, /^pur_/)
})

t.test('an amount of credits is bought at its price', async t => {
  const { page, open, pay } = await openBuyer()
  const { session, path } = await open({ credits: '250' })
  await pay(session)
  t.match((await page(path)).words, '250 credits for 3.13 EUR Paid')
})

t.test('a purchase that was not paid says so, and leads back to the same choice', async t => {
  const { page, open } = await openBuyer()
  const late = await open({ credits: '250' })
  stripe.expire(late.session)
  const expired = await page(late.path)
  t.match(expired.words, /Expired The time to pay is over, and nothing was charged/)
  t.match(expired.text, 'href="/console/credits?credits=250#buy"')
  const { session, path } = await open()
  await stripe.pay(session, { card: 'async' })
  await reports.settled()
  t.match((await page(path)).words, /a bank transfer may take days/)
  stripe.settleAsync(session, false)
  await reports.settled()
  const failed = await page(path)
  t.match(failed.words, /Failed Your payment failed, so nothing was charged/)
  t.match(failed.text, 'href="/console/credits?pack=starter#buy"')
})

t.test('refusals stand on the page in plain words', async t => {
  const { browser } = await openBuyer()
  const refused = async (fields: Record<string, string>) => {
    const { status, text } = await browser.post(PAGE, { begin_at_once: 'true', ...fields })
    return [status, /<p class="fault"[^>]*>(.*?)<\/p>/.exec(text)?.[1]]
  }
  t.same(await refused({}), [400, 'Choose a pack or an amount of credits.'])
  t.same(await refused({ pack: 'gone' }), [400, 'This pack is no longer for sale. Please choose another one.'])
  t.same(await refused({ credits: '99' }), [400, 'Choose 100 to 50,000 credits, with at most six decimals.'])
  for (let count = 0; count < 12; count++)
    t.equal((await browser.post(PAGE, { pack: 'starter', begin_at_once: 'true' })).status, 303)
  const [status, words] = await refused({ pack: 'starter' })
  t.equal(status, 429)
  t.match(words, /An account may open 12 purchases an hour\. Try again in/)
})

t.test('test mode shows prices and buys nothing', async t => {
  const { browser, page } = await openBuyer()
  await browser.post('/console/mode', { mode: 'test', back: PAGE })
  const { words, text } = await page(`${PAGE}?credits=250`)
  t.match(words, 'Test mode buys nothing')
  t.match(words, /Starter.*12\.50 EUR.*250 credits cost 3\.13 EUR/)
  t.notMatch(text, `action="${PAGE}"`)
  const { status } = await browser.post(PAGE, { pack: 'starter' })
  t.equal(status, 403)
})

t.test('a purchase of another account answers like one that does not exist', async t => {
  const [one, other] = [await openBuyer(), await openBuyer()]
  const { id } = await one.open()
  const pages = ['', '/pay'].flatMap(end => [id, 'pur_00000000000000000000000000', 'x'].map(each => each + end))
  const answers = await Promise.all(pages.map(each => other.page(`${PAGE}/purchases/${each}`)))
  for (const { status, words } of answers) {
    t.equal(status, 404)
    t.match(words, 'The account has no purchase with this ID.')
  }
})

t.test('who owes credits reads how many, why, and what the next purchase pays', async t => {
  const { page, open, pay, run } = await openBuyer()
  const { session, path } = await open({ credits: '100' })
  const payment = await pay(session)
  await run(14)
  const dispute = stripe.dispute(payment)
  await reports.settled()
  const { words } = await page()
  t.match(words, /You owe 40 credits You used these credits, and their payment was disputed\. No run starts until/)
  t.match(words, 'Your next purchase pays for them first')
  t.match(words, /Starter 1,000 credits Does not expire 960 left after your debt is paid/)
  t.match((await page(`${PAGE}?credits=100`)).words, '60 left after your debt is paid')
  t.match((await page(path)).words, /Disputed .*Dispute 1\.25 EUR Payment taken back by the bank/)
  const second = await open()
  await pay(second.session)
  const { text, words: paid } = await page()
  t.notMatch(paid, 'You owe')
  t.equal(readCredits(text).figures[0], 960e6)
  stripe.closeDispute(dispute.id, 'won')
  await reports.settled()
  t.match((await page(path)).words, 'Won, credits are back')
})

t.test('refunds show at their purchase and in the list', async t => {
  const { page, open, pay } = await openBuyer()
  const { session, path } = await open()
  const payment = await pay(session)
  stripe.refund(payment, 625)
  await reports.settled()
  t.match((await page()).words, '12.50 EUR Partly refunded')
  const rest = stripe.refund(payment)
  await reports.settled()
  t.match((await page()).words, '12.50 EUR Refunded')
  t.match((await page(path)).words, /Refund 6\.25 EUR Credits taken back .* Refund 6\.25 EUR/)
  stripe.failRefund(rest.id)
  await reports.settled()
  t.match((await page(path)).words, 'Failed, credits are back')
  t.match((await page()).words, 'Purchase returned the refund failed')
})

t.test('the list has ten purchases on a page', async t => {
  const { browser, page } = await openBuyer()
  for (let count = 0; count < 12; count++)
    await browser.post(PAGE, { credits: String(100 + count), begin_at_once: 'true' })
  const { text } = await page()
  const on = (html: string) => [...html.matchAll(/purchases\/pur_\w+" data-item/g)].length
  t.equal(on(text), 10)
  const [, older = ''] = /href="([^"]*)"[^>]*>Older purchases/.exec(text) ?? []
  const second = await page(older)
  t.equal(on(second.text), 2)
  t.match(second.text, />Newest purchases</)
  t.notMatch(second.text, />Older purchases</)
  t.equal((await page(`${PAGE}?purchases=nonsense`)).status, 200)
})

t.test('while Stripe does not answer, a purchase shows as it was, and none is opened', async t => {
  const { browser, page, open } = await openBuyer()
  const { path } = await open()
  stripe.fail('error')
  t.match((await page(path)).words, 'The payment service does not answer right now')
  const { status, text } = await browser.post(PAGE, { pack: 'starter', begin_at_once: 'true' })
  stripe.recover()
  t.equal(status, 503)
  t.match(text, `href="${PAGE}"`, 'and the page says how to try again')
})

t.test('prices change while a page is open', async t => {
  const { browser } = await openBuyer()
  await browser.get(PAGE)
  unwrap(await services.priceList.publish(operator, { packs: [] }))
  t.teardown(async () => unwrap(await services.priceList.publish(operator, priceList)))
  const { text } = await browser.post(PAGE, { pack: 'starter', begin_at_once: 'true' })
  t.match(wordsOf(text), 'This service sells no credits.')
  t.notMatch((await browser.get(PAGE)).text, 'Buy credits')
})

t.test('the owner turns automatic top-ups on, changes them, and turns them off', async t => {
  const { browser, open, page, pay } = await openBuyer()
  const path = `${PAGE}/top-up`
  const form = {
    begin_at_once: 'true',
    below_credits: '2',
    credits: '1000',
    target_credits: '',
    monthly_amount: '50.00',
  }
  const set = async (fields: Record<string, string> = {}) => {
    await browser.get(path)
    const { status, text } = await browser.post(path, { ...form, ...fields })
    return { status, words: wordsOf(text) }
  }
  t.match((await page(path)).words, /Buy credits when they run low Off .* Turn on/)
  t.match(await set(), { status: 400, words: /tick "Keep my payment method", and pay/ })
  await pay((await open({ pack: 'starter', keep_method: 'true' })).session)
  for (const [fields, words] of [
    [{ begin_at_once: '' }, /Tick the box/],
    [{ target_credits: '500' }, /Give the credits to buy each time, or the balance to fill up to/],
    [{ below_credits: 'few' }, /few is not a number of credits/],
    [{ monthly_amount: '12.49' }, /One top-up can cost 12\.50 EUR/],
    ...['007.00', '.50', '-1.00', '1e3', `${'9'.repeat(13)}.00`].map(
      amount => [{ monthly_amount: amount }, /The monthly limit must be an amount, such as 50\.00/] as const,
    ),
    [{ monthly_amount: '50' }, /with the decimals of EUR/],
    [{ credits: '99' }, /100/],
  ] as const)
    t.match(await set(fields), { status: 400, words }, JSON.stringify(fields))
  t.equal((await set()).status, 303)
  t.match((await page(path)).words, /On Paid this month 0\.00 EUR of 50\.00 EUR/)
  t.equal((await set({ below_credits: '3' })).status, 303)
  t.match((await page(path)).text, /name="below_credits"[^>]*value="3"|value="3"[^>]*name="below_credits"/)
  t.notMatch((await page(PAGE)).words, /Top-up/)
  t.equal((await set({ below_credits: '2000' })).status, 303)
  await until('a top-up is paid', async () => /Paid Top-up/.test((await page(PAGE)).words))
  const [, purchase = ''] = /href="([^"]*\/purchases\/pur_\w+)"/.exec((await page(PAGE)).text) ?? []
  t.match((await page(purchase)).words, /Bought by an automatic top-up/)
  await browser.get(path)
  for (const status of [303, 303]) t.equal((await browser.post(`${path}/off`, {})).status, status)
  t.match((await page(path)).words, /Off/)
})
