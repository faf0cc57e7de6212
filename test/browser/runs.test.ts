import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { AccountId } from '../../schemas/primitives.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { caughtUp } from '../support/caught-up.ts'
import { isComplaint, openBrowser } from '../support/chromium.ts'
import { Client } from '../support/client.ts'
import { needsPrograms } from '../support/needs.ts'
import { startReceiver, untilRecorded } from '../support/receiver.ts'
import { instantProvider, type Service, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What would run, or leave its place, if a page did not escape it. */
const CORPUS = [
  '<script>window.stolen=1</script>',
  '<img src=x onerror="window.stolen=1">',
  '"><svg onload=window.stolen=1>',
  "' onmouseover='window.stolen=1",
  'javascript:window.stolen=1',
  '</title><script>window.stolen=1</script>',
  '{{constructor.constructor("window.stolen=1")()}}',
  '<a hx-get="/console/sign-out" hx-trigger="load">x</a>',
  '\u202E<b>right to left',
]

/** The addresses of links that are no addresses of pages. */
const UNSAFE =
  "[...document.querySelectorAll('a')].map(a => a.getAttribute('href')).filter(each => !/^(\\/|#|http)/.test(each))"

/** Runs that were refused once. */
const refused = new Set<string>()

/** Fails, refuses at first, or takes its time, as the prompt says. */
const provider: Provider = {
  ...instantProvider,
  submit: async (job, signal) => {
    const prompt = String(job.input['prompt'] ?? job.input['text'])
    const [, failure] = /^fail (.*)$/s.exec(prompt) ?? []
    if (failure !== undefined) return { kind: 'failed', code: 'content_rejected', message: failure }
    if (prompt === 'busy' && !refused.has(job.runId)) {
      refused.add(job.runId)
      const failure = { kind: 'failed', code: 'provider_error', message: 'Busy.', retryable: true } as const
      return { ...failure, status: 503, fault: { kind: 'overloaded' } }
    }
    return prompt === 'endless' ? new Promise(() => undefined) : instantProvider.submit(job, signal)
  },
}

const operator = { kind: 'operator', name: 'test' } as const

interface Owner {
  accountId: AccountId
  client: Client
  context: BrowserContext
  /** Everything that must not happen on a page. */
  faults: string[]
}

let opened: ReturnType<typeof openBrowser> | undefined
const openOnce = () => {
  opened ??= openBrowser(t)
  return opened
}

const openOwner = async ({ core, url }: Service, email: string, options = {}): Promise<Owner> => {
  const opening = {
    email,
    tester: true,
    welcomeMicros: toMicros(10_000),
    key: { name: CORPUS[0] ?? '', scope: 'full' },
  }
  const { accountId, apiKey = '' } = unwrap(await core.services.accounts.open(operator, opening as never))
  await caughtUp(core)
  const browser = new BrowserClient(url)
  await browser.signIn({ core }, email)
  const context = await (await openOnce()).newContext(options)
  const base = url.replace('//localhost', '//127.0.0.1')
  await context.addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url: base })))
  const faults: string[] = []
  context.on('console', message => {
    if (isComplaint(message)) faults.push(message.text())
  })
  context.on('weberror', error => faults.push(error.error().message))
  return { accountId: accountId as AccountId, client: new Client(url, apiKey), context, faults }
}

/** The serious violations of rules of accessibility on a page. */
const violationsOn = async (owner: Owner, page: Page): Promise<string[]> => {
  const context = await (await openOnce()).newContext({ bypassCSP: true, viewport: page.viewportSize() })
  await context.addCookies(await owner.context.cookies())
  const inspected = await context.newPage()
  await inspected.goto(page.url())
  await inspected.addScriptTag({ path: AXE })
  const found = await inspected.evaluate<string[]>(
    'axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) => id + ": " + help + " " + nodes[0].html))',
  )
  await context.close()
  return found
}

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

const start = (t: Test) =>
  startService(t, {
    environment: { ALLOW_PRIVATE_WEBHOOKS: 'true', TRUSTED_PROXIES: '127.0.0.1' },
    providers: { sandbox: provider },
  })

const pathOf = (service: Service, path: string) => service.url.replace('//localhost', '//127.0.0.1') + path

t.test('nothing that clients, providers or receivers send runs on a page', needsPrograms('chromium'), async t => {
  const service = await start(t)
  const owner = await openOwner(service, 'ada@example.com')
  const receiver = await startReceiver(t, response => response.writeHead(410, CORPUS[0]).end(CORPUS.join('\n')))
  const all = CORPUS.join('\n')
  const request = (prompt: string) => ({
    ...{ model: 'nano-banana-2', input: { prompt }, metadata: { [prompt]: prompt } },
    ...{
      label: prompt.replaceAll(/[^ -~]/g, '').slice(0, 64),
      webhook_url: `${receiver.url}?${encodeURIComponent(all)}`,
    },
  })
  for (const text of CORPUS) await owner.client.run({ ...request(text), webhook_url: undefined })
  const ids = [
    (await owner.client.run(request(all))).body.run_id,
    (await owner.client.run(request(`fail ${all}`))).body.run_id,
    (await owner.client.run({ model: 'gpt-6-1-terra', input: { prompt: all } })).body.run_id,
  ]
  await untilRecorded(service.core.log, 4, owner.accountId)
  await caughtUp(service.core)
  const page = await owner.context.newPage()
  for (const path of [...ids.map(id => `/console/runs/${id}`), '/console/runs', '/console/runs?view=list']) {
    await page.goto(pathOf(service, path))
    for (const tab of await page.getByRole('tab').all()) await tab.click()
    t.equal(await page.evaluate('window.stolen'), undefined, path)
    t.same(await page.evaluate(UNSAFE), [], 'no link leads to a script')
  }
  for (const text of CORPUS) {
    await page.goto(pathOf(service, `/console/runs?${new URLSearchParams({ label: text, model: text, key: text })}`))
    t.equal(await page.evaluate('window.stolen'), undefined, text)
  }
  t.same(owner.faults, [])
})

t.test('the pages are accessible and fit, and the gallery can be narrowed', needsPrograms('chromium'), async t => {
  const service = await start(t)
  for (const options of [
    { viewport: { width: 1280, height: 900 } },
    { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  ]) {
    const { width } = options.viewport
    const owner = await openOwner(service, `w${width}@example.com`, options)
    const page = await owner.context.newPage()
    const inspect = async (path: string) => {
      await page.goto(pathOf(service, path))
      t.same(await violationsOn(owner, page), [], `${path} is accessible at ${width}`)
      t.notOk(await isTooWide(page), `${path} fits ${width}`)
    }
    await inspect('/console/runs')
    const made: Record<string, string> = {}
    for (const [name, model, input] of [
      ['picture', 'nano-banana-2', { prompt: 'a lake', num_images: 2 }],
      ['sound', 'eleven-v3', { text: 'Good evening.' }],
      ['text', 'gpt-6-1-terra', { prompt: 'Write.' }],
      ['failure', 'nano-banana-2', { prompt: 'fail no' }],
      ['second attempt', 'nano-banana-2', { prompt: 'busy' }],
      ['film', 'veo-3-1-fast', { prompt: 'a boat' }],
    ] as const)
      made[name] = (await owner.client.run({ model, input, label: 'winter' }, { Prefer: 'wait=20' })).body.run_id
    // All kinds have the same frame, which is inspected at each width.
    const inspected = width > 720 ? Object.values(made) : [made['picture'], made['failure'], made['second attempt']]
    for (const id of inspected) await inspect(`/console/runs/${id}`)
    await page.goto(pathOf(service, `/console/runs/${made['second attempt']}`))
    const rows = page.getByRole('region', { name: 'What happened' }).getByRole('row')
    const time = String.raw`\d+(\.\d+)? m?s`
    for (const [at, words] of [
      [2, `Sandbox ?503 ?overloaded ?${time}`],
      [3, `Sandbox ?${time}`],
    ] as const)
      t.match((await rows.nth(at).textContent())?.replaceAll(/\s+/g, ' '), new RegExp(words), 'beside its bar')
    t.equal(await page.locator('.step-bar.bad').count(), 1)
    for (const query of ['', '?view=list', '?label=none']) await inspect(`/console/runs${query}`)

    await page.goto(pathOf(service, '/console/runs'))
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/console\/runs\/run_/)
    await page.goBack()
    await page.getByText('Status: any').click()
    await page.getByRole('link', { name: 'failed', exact: true }).click()
    await page.waitForURL(/status=failed/)
    t.equal(await page.locator('[data-item]').count(), 1)
    await page.locator('.bars a.shown').last().locator('.column').click()
    await page.waitForURL(/from=/)
    t.same(owner.faults, [], `at ${width}`)
    await owner.context.close()
  }
})

t.test('an open run shows its end by itself', needsPrograms('chromium'), async t => {
  const service = await start(t)
  const owner = await openOwner(service, 'grace@example.com')
  const { body: run } = await owner.client.run(
    { model: 'gpt-6-1-terra', input: { prompt: 'endless' } },
    { Prefer: 'wait=0' },
  )
  const page = await owner.context.newPage()
  await page.goto(pathOf(service, `/console/runs/${run.run_id}`))
  await page.getByText('is working').waitFor()
  t.same(await violationsOn(owner, page), [])
  await owner.client.post(`/v1/runs/${run.run_id}/cancel`, {})
  await page.getByRole('heading', { name: /^Cancelled · .* refunded$/ }).waitFor()
  t.match(await page.locator('#status').textContent(), /Cancelled/, 'screen readers hear it')
  t.same(owner.faults, [])
})
