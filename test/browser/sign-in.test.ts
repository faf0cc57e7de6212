import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t from 'tap'
import { codeIn, messagesIn } from '../support/browser-client.ts'
import { openBrowser } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { startService } from '../support/service.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The accessibility rules that a page violates. */
const violationsOn = async (page: Page): Promise<string[]> => {
  await page.addScriptTag({ path: AXE })
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, help }) => id + ": " + help))')
}

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

/** One browser for all tests. */
let opened: ReturnType<typeof openBrowser> | undefined
const openOnce = () => {
  opened ??= openBrowser(t)
  return opened
}

t.test('people sign in and out in a browser without scripts', needsPrograms('chromium'), async t => {
  const service = await startService(t)
  const browser = await openOnce()
  const screens = {
    narrow: { viewport: { width: 360, height: 640 }, colorScheme: 'dark' as const },
    wide: { viewport: { width: 1280, height: 800 } },
  }
  for (const [name, options] of Object.entries(screens).slice(0, isLong ? undefined : 1))
    await t.test(name, async t => {
      const context = await browser.newContext({ ...options, javaScriptEnabled: false })
      // It shows the same pages, whose policy allows no scripts, and evaluates what the tests ask for.
      const inspected = await (await browser.newContext({ ...options, bypassCSP: true })).newPage()
      const page = await context.newPage()
      const foreign: string[] = []
      const faults: string[] = []
      page.on('request', request => {
        if (!request.url().startsWith(service.url) && !request.url().startsWith('data:')) foreign.push(request.url())
      })
      page.on('console', message => {
        if (message.text().includes('Content Security Policy')) faults.push(message.text())
      })
      const inspect = async (what: string) => {
        await inspected.context().addCookies(await context.cookies())
        await inspected.goto(page.url())
        t.same(await violationsOn(inspected), [], `${what} is accessible`)
        t.notOk(await isTooWide(inspected), `${what} fits`)
      }

      await page.goto(`${service.url}/console`)
      t.match(page.url(), /\/console\/sign-in$/)
      await inspect('the sign-in page')
      const email = `${name}.with-a-long-name@department.of.a.long-name.example.com`
      await page.getByLabel('E-mail address').fill(email)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/console/sign-in/code')
      await inspect('the page for the code')
      await page.getByLabel('Code').fill('bbbb bbbb')
      await page.getByRole('button', { name: 'Sign in' }).click()
      t.match(
        await page.getByRole('alert').textContent(),
        /This is not the code that this browser requested. You have 4 more tries./,
      )
      const code = await until('the code arrives', async () => codeIn((await messagesIn(service)).at(-1)))
      await page.getByLabel('Code').fill(code.toLowerCase())
      await page.keyboard.press('Enter')
      await page.waitForURL('**/console/playground')
      await page.goto(`${service.url}/console/settings`)
      t.match(await page.getByRole('main').textContent(), `Signed in as ${email}`)
      await inspect('the settings')
      await page.goto(`${service.url}/console/keys`)
      await inspect('the form for a key')
      await page.getByLabel('Name').fill('website')
      await page.getByRole('button', { name: 'Create new key' }).click()
      await page.getByText('You will not see it again').waitFor()
      t.match(await page.getByRole('region', { name: 'The key' }).textContent(), /^tg_sk_live_[0-9a-f]{32}$/)
      await page.goto(`${service.url}/console/keys`)
      await inspect('the keys')
      await page.getByRole('link', { name: 'Revoke website' }).click()
      await inspect('the page before a key is revoked')
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await page.getByText('You have no keys yet').waitFor()
      for (const path of ['/', '/docs/first-request', '/console/webhooks', '/console/confirm', '/console/identities']) {
        await page.goto(service.url + path)
        await inspect(path)
      }
      await page.goto(`${service.url}/console/settings`)
      await page.getByRole('button', { name: 'Sign out everywhere' }).click()
      await page.waitForURL('**/console/sign-in')
      await page.goto(`${service.url}/console`)
      t.match(page.url(), /\/console\/sign-in$/)
      t.same(foreign, [])
      t.same(faults, [], 'the policy for content blocks nothing of ours')
    })
})

t.test('a page of another site cannot sign anybody out', needsPrograms('chromium'), async t => {
  const service = await startService(t)
  const browser = await openOnce()
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${service.url}/console/sign-in`)
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/code')
  const code = await until('the code arrives', async () => codeIn((await messagesIn(service)).at(-1)))
  await page.getByLabel('Code').fill(code)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/playground')
  // Another host of the same machine, and so another site.
  const evil = await context.newPage()
  await evil.route('http://127.0.0.1:1/**', route =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="${service.url}/console/sign-out-everywhere"><button>Win</button></form>`,
    }),
  )
  await evil.goto('http://127.0.0.1:1/')
  await evil.getByRole('button').click()
  await evil.waitForURL('**/console/sign-out-everywhere')
  t.match(await evil.getByRole('alert').textContent(), /comes from another site/)
  await page.goto(`${service.url}/console/settings`)
  t.match(await page.getByRole('main').textContent(), /Signed in as ada@example.com/)
})
