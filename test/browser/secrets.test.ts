import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { openBrowser } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { startService } from '../support/service.ts'

t.test('a secret is shown once, and no browser keeps it', needsPrograms('chromium'), async t => {
  const service = await startService(t)
  const client = new BrowserClient(service.url)
  await client.signIn(service, 'ada@example.com')
  const context = await (await openBrowser(t)).newContext()
  await context.addCookies([...client.cookies].map(([name, value]) => ({ name, value, url: service.url })))
  const page = await context.newPage()
  const isThere = async (secret: string) => (await page.content()).includes(secret)
  const kept = () => page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')

  const secretOf = async (path: string, show: () => Promise<void>, place: string) => {
    await page.goto(service.url + path)
    await show()
    const secret = (await page.locator(place).textContent())?.trim() ?? ''
    t.match(secret, /^(tg_sk_live|whsec)_/)
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.equal(page.url(), service.url + path)
    t.notOk(await isThere(secret), 'after the page was read anew')
    await page.goto(`${service.url}/console/settings`)
    await page.goBack()
    t.equal(page.url(), service.url + path)
    t.notOk(await isThere(secret), 'after going back')
    t.notMatch(await kept(), secret)
  }

  const createKey = async () => {
    await page.locator('#name').fill('website')
    await page.keyboard.press('Enter')
  }
  await secretOf('/console/keys', createKey, '#new-key')
  const { data } = JSON.parse((await client.get('/v1/keys')).text)
  t.equal(data.length, 1, 'no other key was made')
  const showSecret = () => page.getByRole('button', { name: 'Show the secret' }).click()
  await secretOf('/console/webhooks', showSecret, '#secret')
})
