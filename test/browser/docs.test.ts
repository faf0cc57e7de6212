import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { isComplaint, openBrowser } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { startService } from '../support/service.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

const violationsOn = async (page: Page): Promise<string[]> => {
  await page.addScriptTag({ path: AXE })
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, help }) => id + ": " + help))')
}

t.test('a reader tries a request in test mode, without a fault on any page', needsPrograms('chromium'), async t => {
  const service = await startService(t)
  const client = new BrowserClient(service.url)
  await client.signIn(service, 'ada@example.com')
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: service.url }))
  const browser = await openBrowser(t)
  const context = await browser.newContext()
  await context.addCookies(cookies)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', message => {
    if (isComplaint(message)) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(error.message))

  await page.goto(`${service.url}/docs/reference/runModel`)
  t.match(await page.getByRole('region', { name: 'Try it' }).textContent(), 'Costs the credits of the run')
  await page.getByRole('button', { name: 'Switch to test mode' }).click()
  await page.getByText('Costs nothing: the sandbox does the run').waitFor()
  t.match(page.url(), /\/docs\/reference\/runModel$/)
  await page.getByRole('button', { name: 'Send test request' }).click()
  await page.getByRole('status').getByText('The answer has the status 200').waitFor({ state: 'attached' })
  await page.locator('#try-body').getByText('"completed"').waitFor()
  t.match(await page.locator('#try-body').textContent(), /"livemode": false/)
  t.match(await page.locator('#try-answer').textContent(), /x-request-id/)

  await page.goto(`${service.url}/docs/reference/getRun`)
  await page.locator('#try-path-id').fill('run_01m7z4hp40enbs019v3tcadvdx')
  await page.getByRole('button', { name: 'Send test request' }).click()
  await page.locator('#try-body').getByText('run_not_found').waitFor()
  t.same(
    faults.filter(fault => !fault.includes('404')),
    [],
    'the answer 404 is the only fault',
  )
  faults.length = 0

  // It shows the same pages, whose policy allows no scripts of others.
  for (const options of [
    { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const },
    { viewport: { width: 1440, height: 900 } },
  ]) {
    const inspected = await (await browser.newContext({ ...options, bypassCSP: true })).newPage()
    await inspected.context().addCookies(cookies)
    for (const path of ['/docs', '/docs/keys', '/docs/first-request', '/docs/reference', '/docs/reference/runModel']) {
      await page.goto(service.url + path)
      await inspected.goto(service.url + path)
      t.same(await violationsOn(inspected), [], `${path} is accessible`)
      t.notOk(await inspected.evaluate('document.documentElement.scrollWidth > innerWidth'), `${path} fits`)
    }
  }
  t.same(faults, [], 'the policy for content blocks nothing of ours')
})
