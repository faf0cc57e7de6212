import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t from 'tap'
import { accountStream } from '../../schemas/events.ts'
import { totalOf } from '../../src/audit/books.ts'
import { explainRun } from '../../src/audit/explain/explain.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { needsBookKeepers, readByBeancount, readByHledger } from '../support/book-keepers.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { openBrowser } from '../support/chromium.ts'
import { Client, picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { readCredits } from '../support/credits-page.ts'
import { exported } from '../support/exported.ts'
import { logOf } from '../support/log-of.ts'
import { needsPrograms } from '../support/needs.ts'
import { startSales } from '../support/sales.ts'
import { instantProvider } from '../support/service.ts'
import { statementOf } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'
import { verified } from '../support/verified.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The accessibility rules that a page violates. */
const violationsOn = async (page: Page): Promise<string[]> => {
  await page.addScriptTag({ path: AXE })
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))')
}

t.test('a stranger buys credits in a browser without scripts', needsPrograms('chromium'), async t => {
  const service = await startSales(t)
  const { url, stripe } = service
  const client = new BrowserClient(url)
  await client.signIn(service, 'ada@example.com')
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url }))
  const browser = await openBrowser(t)
  const options = { viewport: { width: 390, height: 844 } }
  const context = await browser.newContext({ ...options, javaScriptEnabled: false })
  await context.addCookies(cookies)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', message => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text())
  })
  // It shows the same pages, whose policy allows no scripts, and evaluates what the tests ask for.
  const inspected = await (await browser.newContext({ ...options, bypassCSP: true })).newPage()
  await inspected.context().addCookies(cookies)
  const inspect = async (what: string) => {
    await inspected.goto(page.url())
    t.same(await violationsOn(inspected), [], `${what} is accessible`)
    t.notOk(await inspected.evaluate('document.documentElement.scrollWidth > innerWidth'), `${what} fits`)
  }

  await page.goto(`${url}/console/credits?pack=studio`)
  await inspect('the page with a chosen pack')
  await page.getByLabel('Another amount').fill('500')
  await page.getByRole('button', { name: 'Show price' }).click()
  await page.getByRole('button', { name: 'Buy 500 credits for 6.25 EUR' }).click()
  t.match(page.url(), '/console/credits?credits=500', 'the browser asks for the consent')
  await page.getByLabel('Give me the credits at once').check()
  await page.getByRole('button', { name: 'Buy 500 credits for 6.25 EUR' }).click()
  await page.waitForURL(`${stripe.url}/**`)
  await page.goBack()
  t.match(page.url(), '/console/credits?credits=500', 'the page that went on is no stop on the way back')
  await page.goForward()
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByRole('button', { name: 'Pay' }).click()
  const paidMs = performance.now()
  await page.waitForURL(`${url}/console/credits/purchases/*`)
  t.match(await page.getByRole('main').textContent(), /500 credits for 6\.25 EUR\s*Paid/)
  t.ok(performance.now() - paidMs < 2000, 'within two seconds')
  await inspect('the page of the purchase')
  await page.getByRole('link', { name: 'See the invoice' }).click()
  await page.waitForURL(`${stripe.url}/i/in_*`)
  await page.goBack()
  await page.getByRole('link', { name: 'See your balance' }).click()
  t.equal(readCredits(await page.content()).figures[0], 600e6)
  const bought = await page.getByRole('region', { name: 'Purchases', exact: true }).textContent()
  t.match(bought, /500.*6\.25 EUR.*Paid.*See the invoice/)
  await inspect('the page with a purchase')

  await page.getByLabel('Give me the credits at once').check()
  await page.getByRole('button', { name: 'Buy for 12.50 EUR' }).click()
  await page.waitForURL(`${stripe.url}/**`)
  await page.getByRole('link', { name: 'Back' }).click()
  await page.getByRole('region', { name: 'Purchases', exact: true }).getByRole('link', { name: '1,000' }).click()
  t.match(await page.getByRole('main').textContent(), 'Your payment has not arrived yet')
  await page.getByRole('link', { name: 'Continue to payment' }).click()
  await page.waitForURL(`${stripe.url}/**`)

  await page.goto(`${url}/console/credits`)
  await page.getByRole('link', { name: 'Automatic top-ups' }).click()
  await page.waitForURL(`${url}/console/credits/top-up`)
  await inspect('the page of top-ups')

  await page.goto(`${url}/console/credits`)
  await page.getByRole('link', { name: 'Withdraw from contract here' }).click()
  await inspect('the page that asks to confirm a withdrawal')
  await page.getByRole('button', { name: 'Confirm withdrawal' }).click()
  await page.waitForURL(`${url}/console/credits/purchases/*`)
  t.match(await page.getByRole('main').textContent(), /Withdrawn.*You have withdrawn from the contract/)
  await inspect('the page of a purchase that was withdrawn from')
  t.same(faults, [], 'the policy for content blocks nothing of ours')
})

const operator = { kind: 'operator', name: 'test' } as const

const needsAll = { skip: needsPrograms('chromium').skip || needsBookKeepers.skip }

t.test(
  '500 credits that are bought, used and refunded add up to the cent, wherever they are told',
  needsAll,
  async t => {
    const service = await startSales(t, {
      environment: { WELCOME_CREDITS: '0' },
      providers: { sandbox: instantProvider },
    })
    const { url, stripe, reports, core } = service
    const { accounts, keys, purchaseRefunds } = core.services
    const client = new BrowserClient(url)
    await client.signIn(service, 'ada@example.com')
    const { accountId } = unwrap(await accounts.findByEmail(operator, 'ada@example.com')).account
    const browser = await openBrowser(t)
    const context = await browser.newContext({ javaScriptEnabled: false })
    await context.addCookies([...client.cookies].map(([name, value]) => ({ name, value, url })))
    const page = await context.newPage()
    const figures = async () => {
      await page.goto(`${url}/console/credits`)
      return readCredits(await page.content()).figures
    }

    await page.goto(`${url}/console/credits?credits=500`)
    await page.getByLabel('Give me the credits at once').check()
    await page.getByRole('button', { name: 'Buy 500 credits for 6.25 EUR' }).click()
    await page.waitForURL(`${stripe.url}/**`)
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByRole('button', { name: 'Pay' }).click()
    const paidMs = performance.now()
    await page.waitForURL(`${url}/console/credits/purchases/*`)
    t.match(await page.getByRole('main').textContent(), /Paid/)
    t.equal((await figures())[0], 500e6)
    t.ok(performance.now() - paidMs < 2000, 'within two seconds')

    const { apiKey } = unwrap(await keys.create(operator, accountId, { name: 'api' }))
    const api = new Client(url, apiKey)
    const runs = [await api.run(picture), await api.run(picture)]
    t.equal((await figures())[0], 480e6)

    const [purchase] = unwrap(await purchaseRefunds.list(operator, accountId))
    const purchaseId = purchase?.purchaseId ?? ''
    unwrap(await purchaseRefunds.refund(operator, purchaseId, { reason: 'asked' }))
    await until('Stripe has made the refund', async () => stripe.store.all('refund').length === 1)
    await reports.settled()
    t.match(stripe.store.all('refund'), [{ amount: 600, currency: 'eur', status: 'succeeded' }])
    t.equal((await figures())[0], 0)
    await page.goto(`${url}/console/credits/purchases/${purchaseId}`)
    t.match(await page.getByRole('main').textContent(), /6\.00 EUR/)

    const events = await collect(core.log.readAll(BEFORE_FIRST))
    t.same((await verified(events, { isDense: true })).faults, [])
    for (const { body } of runs) {
      const { story, faults } = (await explainRun(logOf(events), body.run_id)) ?? {}
      t.match({ used: story?.used, faults }, { used: { freeMicros: 0, paidMicros: 10e6 }, faults: [] })
    }
    const { opening, closing, lines, totals } = await statementOf(events, { account: accountId })
    t.same([opening, closing].map(totalOf), [0, 0])
    t.same(
      lines.map(({ change }) => change.paidMicros),
      [500e6, -10e6, -10e6, -480e6],
    )
    t.match(totals, { charged: { paidMicros: 20e6 }, withdrawn: { paidMicros: 480e6 } })
    const moves = events.filter(({ stream, type }) => stream === accountStream(accountId) && type.startsWith('Credits'))
    for (const [format, read] of [
      ['hledger', readByHledger],
      ['beancount', readByBeancount],
    ] as const) {
      const { balances, entries } = await read(t, await exported(events, format))
      const ofCustomer = Object.entries(balances).filter(([name]) => name.includes(accountId.slice('acct_'.length)))
      t.equal(sumOf(ofCustomer.map(([, micros]) => micros)), 0, `${format}: nothing is left of the credits`)
      t.equal(sumOf(Object.values(balances)), 0, format)
      const told = new Set(entries.map(({ tags }) => tags['event_id']))
      t.ok(
        moves.every(({ id }) => told.has(id)),
        `${format}: each movement is an entry`,
      )
    }
  },
)

const sumOf = (amounts: number[]): number => amounts.reduce((sum, amount) => sum + amount, 0)
