import { createRequire } from 'node:module'
import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { isComplaint, openBrowser } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { instantProvider, startService } from '../support/service.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

t.test('the finder is used by keyboard', needsPrograms('chromium'), async t => {
  const service = await startService(t, { providers: { sandbox: instantProvider } })
  const client = new BrowserClient(service.url)
  await client.signIn(service, 'ada@example.com')
  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: service.url }))
  const browser = await openBrowser(t)
  // The policy for content would refuse the script that inspects the page.
  const context = await browser.newContext({ bypassCSP: true })
  await context.addCookies(cookies)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', message => {
    if (isComplaint(message)) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(error.message))
  const finder = page.getByRole('dialog', { name: 'Search' })
  const field = finder.getByRole('combobox')
  const selected = finder.getByRole('option', { selected: true })

  await page.goto(`${service.url}/console/runs`)
  await page.keyboard.press('Control+k')
  await selected.getByText('Playground').waitFor()
  await page.keyboard.type('key')
  await selected.getByText('API keys').waitFor()
  await page.addScriptTag({ path: AXE })
  t.same(await page.evaluate('axe.run("#finder").then(({ violations }) => violations.map(({ id }) => id))'), [])
  await page.keyboard.press('ArrowDown')
  await selected.getByText('Create new key').waitFor()
  t.equal(await field.getAttribute('aria-activedescendant'), await selected.getAttribute('id'))
  t.equal(await selected.count(), 1)
  await page.keyboard.press('ArrowUp')
  await selected.getByText('API keys').waitFor()
  await page.keyboard.press('ArrowUp')
  t.equal(await selected.count(), 1, 'the selection goes around')
  await page.keyboard.press('Escape')
  // The browser gives the focus back a moment after it has closed the dialog.
  await page.waitForFunction('document.activeElement === document.body')

  await page.keyboard.press('/')
  await selected.getByText('API keys').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/keys')
  // Enter before the results opens the first of them, whether a page or an action.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('cred')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/credits')

  await page.keyboard.press('?')
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await shortcuts.getByRole('link', { name: 'Webhooks' }).waitFor()
  await page.keyboard.press('Escape')
  await shortcuts.waitFor({ state: 'hidden' })
  await page.keyboard.press('g')
  await page.keyboard.press('w')
  await page.waitForURL('**/console/webhooks')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('turn test')
  await page.keyboard.press('Enter')
  await page.locator('.test-band').waitFor()
  t.same(faults, [])
})
