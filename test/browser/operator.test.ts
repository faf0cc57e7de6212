import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { isComplaint, openBrowser } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The accessibility rules that a page violates. */
const violationsOn = async (page: Page): Promise<string[]> => {
  await page.addScriptTag({ path: AXE })
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(node => node.html)))',
  )
}

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

t.test('an operator grants credits and suspends an account in a browser', needsPrograms('chromium'), async t => {
  const environment = { ADMIN_EMAILS: 'ops@example.com' }
  const service = await startService(t, { environment, providers: { sandbox: instantProvider } })
  const customer = await openAccount(service)
  const { accountId } = customer
  await customer.run({ model: 'nano-banana-2', input: { prompt: 'a lighthouse' } })
  const client = new BrowserClient(service.url)
  await client.signIn(service, 'ops@example.com')
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: service.url }))
  const browser = await openBrowser(t)
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  // It shows the same pages, whose policy would refuse the script that inspects them.
  const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }
  const inspected = await (await browser.newContext({ ...phone, bypassCSP: true })).newPage()
  await inspected.context().addCookies(cookies)
  await context.addCookies(cookies)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', message => {
    if (isComplaint(message)) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(error.message))
  const inspect = async (what: string) => {
    await inspected.goto(page.url())
    t.same(await violationsOn(inspected), [], `${what} is accessible`)
    t.notOk(await isTooWide(inspected), `${what} fits a phone`)
  }

  await page.goto(`${service.url}/console/operator`)
  await page.getByRole('heading', { name: 'Needs you' }).waitFor()
  await inspect('the overview')
  // The finder shows results while somebody types.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(accountId)
  await page.locator(`#finder-results a[href$="${accountId}"]`).click()
  await page.waitForURL(`**/accounts/${accountId}`)
  await inspect('the page of an account')

  await page.getByRole('link', { name: 'Grant credits' }).click()
  await inspect('the form of a grant')
  await page.getByRole('textbox', { name: 'Credits' }).fill('500')
  await page.getByRole('textbox', { name: 'Reason' }).fill('for the outage')
  await page.getByRole('button', { name: 'Review grant' }).click()
  await page.getByText(/^You grant 500 credits to /).waitFor()
  t.match(await page.getByRole('main').textContent(), '90 → 590')
  await page.getByRole('button', { name: 'Grant 500 credits' }).click()
  await page.locator('.done', { hasText: '500 credits granted · balance 590' }).waitFor()
  t.equal(await customer.balance(), 590)
  await inspect('the page after the grant')

  await page.getByRole('link', { name: 'Suspend account' }).click()
  await page.getByRole('textbox', { name: 'Reason' }).fill('unpaid invoice')
  await page.getByRole('button', { name: 'Review suspension' }).click()
  await page.getByRole('button', { name: 'Suspend account' }).click()
  await page.locator('.done', { hasText: 'Account suspended' }).waitFor()
  t.equal((await customer.send('/v1/balance')).status, 403)
  await inspect('the page of a suspended account')

  for (const path of ['accounts', 'catalog', 'catalog/nano-banana-2']) {
    await page.goto(`${service.url}/console/operator/${path}`)
    await inspect(path)
  }
  await page.goto(`${service.url}/console/search?q=o`)
  await inspect('the search')
  t.same(faults, [], 'no error, and nothing that the policy for content blocks')
})
