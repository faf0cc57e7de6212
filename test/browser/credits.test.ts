import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import t from 'tap'
import { toMicros } from '../../src/domain/money.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { isComplaint, openBrowser } from '../support/chromium.ts'
import { Client } from '../support/client.ts'
import { readCredits } from '../support/credits-page.ts'
import { needsPrograms } from '../support/needs.ts'
import { instantProvider, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const operator = { kind: 'operator', name: 'test' } as const

/** The accessibility rules that a page violates. */
const violationsOn = async (page: Page): Promise<string[]> => {
  await page.addScriptTag({ path: AXE })
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].html))')
}

t.test('credits in a browser', needsPrograms('chromium'), async t => {
  const environment = { SEAL_EVENTS: '10' }
  const service = await startService(t, { environment, providers: { sandbox: instantProvider } })
  const browser = await openBrowser(t)
  const client = new BrowserClient(service.url)
  await client.signIn(service, 'ada@example.com')
  const { accounts, keys } = service.core.services
  const { accountId } = unwrap(await accounts.findByEmail(operator, 'ada@example.com')).account
  const amountMicros = toMicros(500)
  unwrap(await accounts.grant(operator, accountId, { amountMicros, kind: 'purchase', reason: 'paid' }))
  const { apiKey } = unwrap(await keys.create(operator, accountId, { name: 'a key with a long name for a long row' }))
  const api = new Client(service.url, apiKey)
  const run = async (label: string) => {
    for (const model of ['nano-banana-2', 'gpt-image-2-6', 'seedream-4-5'])
      t.equal((await api.post('/v1/run', { model, label, input: { prompt: 'a lake' } })).status, 200)
  }
  const sealNumber = async () => {
    const { status, body } = await api.send<{ number: number }>('/v1/ledger/seal')
    return status === 200 ? body.number : -1
  }
  for (const label of ['spring', 'حملة الربيع', '<script>alert(1)</script>', 'autumn']) await run(label)
  await until('the events are sealed', async () => (await sealNumber()) > 0)

  const cookies = [...client.cookies].map(([name, value]) => ({ name, value, url: service.url }))
  /** A page of a browser of its own, and what its console says. */
  const open = async (options: Parameters<typeof browser.newContext>[0] = {}) => {
    const context: BrowserContext = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    await context.addCookies(cookies)
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', message => {
      if (isComplaint(message)) faults.push(message.text())
    })
    page.on('pageerror', error => faults.push(error.message))
    await page.goto(`${service.url}/console/credits`)
    return { page, faults }
  }
  const checked = async (page: Page, state: 'good' | 'bad' | 'open') => {
    await page.locator('#check-start').click()
    await page.locator('#check[data-state=running]').waitFor({ state: 'detached' })
    t.equal(await page.locator('#check').getAttribute('data-state'), state)
    return `${await page.locator('#check-title').textContent()} – ${await page.locator('#check-text').textContent()}`
  }

  await t.test('the check verifies all events up to the newest seal, and later that the log was continued', async t => {
    const { page, faults } = await open()
    const lines = await page.locator('tr[data-revision]').count()
    const found = await checked(page, 'good')
    const [, events = '', agreed = ''] =
      /^Checked (\d+) events up to seal \d+ at [-0-9]+ [:0-9]+ UTC.* (\d+) of the lines/.exec(found) ?? []
    t.ok(Number(events) > 30, found)
    t.ok(Number(agreed) > lines / 2 && Number(agreed) <= lines, found)
    t.match(await page.locator('#status').textContent(), /^Checked/, 'screen readers are told')
    t.equal(
      await page.getByRole('link', { name: 'Proof', exact: true }).getAttribute('href'),
      '/console/credits/proof.json',
    )
    const before = await sealNumber()
    for (const label of ['winter', 'winter']) await run(label)
    await until('a newer seal is there', async () => (await sealNumber()) > before)
    await page.reload()
    t.match(await checked(page, 'good'), /It continues seal \d+, which this browser kept/)
    t.same(faults, [])
  })

  await t.test('what was forged on the way is found, and named', async t => {
    const { page, faults } = await open()
    /** Changes what the service answers at an address. */
    const forging = async (path: string, change: (text: string) => string) => {
      await page.route(path, async route => {
        const response = await route.fetch()
        const text = await response.text()
        const forged = change(text)
        t.not(forged, text)
        await route.fulfill({ response, body: forged })
      })
    }
    const proof = '**/proof.json'
    await forging(proof, text => text.replace(/(balanceAfterMicros\\":)\d+/, '$11'))
    t.match(
      await checked(page, 'bad'),
      /does not add up – .*the texts of event \d+ of account-\w+ do not belong together/,
    )
    await page.unroute(proof)
    await forging(proof, text => text.split('\n').toSpliced(5, 1).join('\n'))
    t.match(await checked(page, 'bad'), /event|missing/)
    await page.unroute(proof)
    await forging(proof, text =>
      text.replace(/("revision\\":\d+)(,\\"root)/, '$1$2').replace(/(signature\\":\\")./, '$1A'),
    )
    t.match(await checked(page, 'bad'), /seal/)
    await page.unroute(proof)
    await forging(proof, text => text.slice(0, text.length / 2))
    t.match(await checked(page, 'open'), /was not checked/)
    await page.unroute(proof)
    t.match(await checked(page, 'good'), /^Checked/)

    const credits = '**/console/credits'
    await forging(credits, html => html.replaceAll('−21.5<', '−22.5<'))
    await page.reload()
    t.match(await checked(page, 'bad'), /this page shows another amount or balance for event \d+/)
    await page.unroute(credits)
    await page.evaluate(`localStorage.setItem('tollgate-seal', '1:sha256-${'0'.repeat(64)}')`)
    await page.reload()
    t.match(await checked(page, 'bad'), /kept/)
    t.same(faults, [])
  })

  await t.test('before the first seal, the check covers the links, prices and balances', async t => {
    const quiet = await startService(t, { providers: { sandbox: instantProvider } })
    const owner = new BrowserClient(quiet.url)
    await owner.signIn(quiet, 'ada@example.com')
    const input = { prompt: 'a lake' }
    t.equal((await owner.send('POST', '/v1/run', { model: 'nano-banana-2', input })).status, 200)
    const context = await browser.newContext()
    await context.addCookies([...owner.cookies].map(([name, value]) => ({ name, value, url: quiet.url })))
    const page = await context.newPage()
    await page.goto(`${quiet.url}/console/credits`)
    const found = await checked(page, 'good')
    t.match(found, /^Checked \d+ events; no seal covers them yet .* 2 of the lines below agree/)
    t.match(found, /at about \d\d:\d\d UTC/)
    t.equal(await page.locator('#check-proof').isVisible(), false, 'there is no proof yet')
    for (const [from, to] of [
      [/(balanceAfterMicros\\":)\d+/, '$11'],
      [/("head":")\w/, '$1!'],
      [/("head":")\w{8}/, '$100000000'],
      [/(\\"amountMicros\\":)10000000/, '$19000000'],
    ] as const) {
      await page.route('**/chain.json', async route => {
        const response = await route.fetch()
        const text = await response.text()
        t.not(text.replace(from, to), text)
        await route.fulfill({ response, body: text.replace(from, to) })
      })
      t.match(await checked(page, 'bad'), 'Your ledger does not add up', String(from))
      await page.unroute('**/chain.json')
    }
  })

  await t.test('links change parts of the page, and keep the result of the check', async t => {
    const { page, faults } = await open()
    await checked(page, 'good')
    await page.getByRole('link', { name: '7 d' }).click()
    await page.waitForURL('**/console/credits?range=7d')
    await page.locator('#range-7d[aria-current]').waitFor()
    await page.getByRole('link', { name: 'Label' }).click()
    await page.waitForURL('**/console/credits?range=7d&by=label')
    await page.locator('.spending').getByText('<script>alert(1)</script>').waitFor()
    t.equal(await page.locator('#check').getAttribute('data-state'), 'good')
    await page.goBack()
    await page.locator('#by-model[aria-current]').waitFor()
    t.same(faults, [])
  })

  await t.test('without scripts, the page has its numbers and its links', async t => {
    const { page, faults } = await open({ javaScriptEnabled: false })
    t.equal(await page.locator('#check-start').isVisible(), false)
    await page.getByRole('link', { name: '1 y' }).click()
    await page.getByRole('link', { name: 'Key', exact: true }).click()
    await page.waitForURL('**/console/credits?range=1y&by=key')
    const { spending, sum, figures } = readCredits(await page.content())
    t.equal(spending[0]?.micros, sum)
    t.equal(toMicros(600) - (sum ?? 0), figures[0])
    await page.getByText('Show the numbers').click()
    t.ok(await page.locator('#numbers').isVisible())
    await page.getByText('Check it without this page').click()
    t.ok(await page.getByText('node verify.mjs proof.json --key keys.json').isVisible())
    t.same(faults, [])
  })

  await t.test('the page is accessible and fits, narrow and wide, light and dark', async t => {
    for (const options of [
      { viewport: { width: 360, height: 640 }, colorScheme: 'dark' as const },
      { viewport: { width: 1280, height: 800 } },
    ]) {
      // The policy of the page refuses the script of axe.
      const { page } = await open({ ...options, bypassCSP: true })
      await checked(page, 'good')
      await page.getByText('Show the numbers').click()
      await page.getByText('Check it without this page').click()
      t.same(await violationsOn(page), [])
      t.notOk(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), 'nothing is too wide')
    }
  })

  await t.test('digests and signatures are those of Node.js', async t => {
    const { page } = await open({ bypassCSP: true })
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const { x = '' } = publicKey.export({ format: 'jwk' })
    const samples = Array.from({ length: 140 }, (_, size) => {
      const bytes = randomBytes(size)
      return { bytes: bytes.toString('hex'), signature: sign(null, bytes, privateKey).toString('hex') }
    })
    const found = await page.evaluate(
      async ({ samples, x, parts }) => {
        const { createHash, createPublicKey, verify } = await import(parts)
        const { Buffer } = globalThis as unknown as { Buffer: { from(text: string, encoding: string): Uint8Array } }
        const key = createPublicKey({ key: { x } })
        return samples.map(({ bytes, signature }) => {
          const [message, right] = [Buffer.from(bytes, 'hex'), Buffer.from(signature, 'hex')]
          const isSigned = message.length % 10 > 0 || verify(null, message, key, right)
          right[message.length % 64] = (right[message.length % 64] ?? 0) ^ 1
          const isForged = message.length % 10 > 0 || !verify(null, message, key, right)
          return { digest: createHash('sha256').update(message).digest('hex'), isSigned, isForged }
        })
      },
      { samples, x, parts: `${service.url}/console/assets/node-parts.js` },
    )
    t.same(
      found,
      samples.map(({ bytes }) => ({
        ...{ digest: createHash('sha256').update(Buffer.from(bytes, 'hex')).digest('hex') },
        ...{ isSigned: true, isForged: true },
      })),
    )
  })
})
