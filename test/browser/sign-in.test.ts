import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t from 'tap'
import { BrowserClient, codeIn, messagesIn } from '../support/browser-client.ts'
import { openBrowser } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The accessibility rules that a page violates. It is a copy, since the page's own policy allows no scripts. */
const violationsOn = async (page: Page): Promise<string[]> => {
  const copy = await page.context().newPage()
  await copy.route('**/copy', route => route.fulfill({ contentType: 'text/html', body: '' }))
  await copy.goto(new URL('/copy', page.url()).href)
  await copy.setContent(await page.content())
  await copy.addScriptTag({ path: AXE })
  const violations = await copy.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, help }) => id + ": " + help))',
  )
  await copy.close()
  return violations as string[]
}

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

t.test('people sign in and out in a browser without scripts', needsPrograms('chromium'), async t => {
  const service = await startService(t)
  const browser = await openBrowser(t)
  for (const [name, options] of Object.entries({
    wide: { viewport: { width: 1280, height: 800 } },
    narrow: { viewport: { width: 360, height: 640 }, colorScheme: 'dark' as const },
  }))
    await t.test(name, async t => {
      const context = await browser.newContext({ ...options, javaScriptEnabled: false })
      // It evaluates what the tests ask for, on the same pages.
      const inspected = await browser.newContext(options)
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
        const copy = await inspected.newPage()
        await inspected.addCookies(await context.cookies())
        await copy.goto(page.url())
        t.same(await violationsOn(copy), [], `${what} is accessible`)
        t.notOk(await isTooWide(copy), `${what} fits`)
        await copy.close()
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
      await page.waitForURL('**/console')
      t.match(await page.getByRole('main').textContent(), new RegExp(`Signed in as ${email}.*100 credits`))
      await inspect('the account')
      await page.getByLabel('Name').fill('website')
      await page.getByRole('button', { name: 'Create new key' }).click()
      await page.getByText('You will not see it again').waitFor()
      t.match(await page.getByRole('region', { name: 'The key' }).textContent(), /^tg_sk_live_[0-9a-f]{32}$/)
      await page.getByRole('link', { name: 'I have kept it' }).click()
      await inspect('the account with a key')
      await page.getByRole('link', { name: 'Revoke website' }).click()
      await inspect('the page before a key is revoked')
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await page.getByText('You have none yet').waitFor()
      for (const path of ['/', '/guide']) {
        await page.goto(service.url + path)
        await inspect(path)
      }
      await page.goto(`${service.url}/console`)
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
  const browser = await openBrowser(t)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${service.url}/console/sign-in`)
  await page.getByLabel('E-mail address').fill('ada@example.com')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/code')
  const code = await until('the code arrives', async () => codeIn((await messagesIn(service)).at(-1)))
  await page.getByLabel('Code').fill(code)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console')
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
  await page.reload()
  t.match(await page.getByRole('main').textContent(), /Signed in as ada@example.com/)
})

t.test('the reference takes the session of somebody who is signed in', needsPrograms('chromium'), async t => {
  const service = await startService(t)
  const browser = await openBrowser(t)
  const context = await browser.newContext()
  const page = await context.newPage()
  // The script of the viewer is large, and slow on a busy machine.
  page.setDefaultTimeout(120_000)
  await page.goto(`${service.url}/docs`)
  await page.getByText('Sign in, or enter an API key').waitFor()
  const client = new BrowserClient(service.url)
  await client.signIn(service, 'ada@example.com')
  await context.addCookies([...client.cookies].map(([name, value]) => ({ name, value, url: service.url })))
  await page.goto(`${service.url}/docs#/Runs/runModel`)
  await page.reload()
  await page.getByText('You are signed in').waitFor()
  const operation = page.locator('#operations-Runs-runModel')
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answered = operation.locator('.live-responses-table .response-col_status').filter({ hasText: '200' })
  await answered.first().waitFor()
  t.match(await client.get('/v1/runs'), { text: /"status":"completed"/ })
})
