import { createRequire } from 'node:module'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import { BrowserClient } from '../support/browser-client.ts'
import { isComplaint, openBrowser, PATIENCE_MS } from '../support/chromium.ts'
import { needsPrograms } from '../support/needs.ts'
import { picture } from '../support/sample-files.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** One browser and one service for all tests. */
let opened: Promise<{ browser: Awaited<ReturnType<typeof openBrowser>>; service: Service }> | undefined
const openOnce = () => {
  opened ??= (async () => ({
    browser: await openBrowser(t),
    service: await startService(t, { environment: { TRUSTED_PROXIES: '127.0.0.1' } }),
  }))()
  return opened
}

let owners = 0

/** The playground of a new account, and what the browser complains about. */
const openPlayground = async (options: BrowserContextOptions = {}) => {
  const { browser, service } = await openOnce()
  const client = new BrowserClient(service.url)
  await client.signIn(service, `owner-${++owners}@example.com`)
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  await context.addCookies([...client.cookies].map(([name, value]) => ({ name, value, url: service.url })))
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => {
    // A refused form has a status of its own, which browsers report as if a resource were missing.
    if (/ status of 4\d\d /.test(message.text())) return
    if (isComplaint(message)) complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(error.message))
  await page.goto(`${service.url}/console/playground`)
  return { service, page, complaints, context }
}

/** The accessibility rules that a page violates seriously. */
const violationsOn = async (page: Page): Promise<string[]> => {
  const inspected = await page.context().browser()?.newContext({ bypassCSP: true, viewport: page.viewportSize() })
  if (!inspected) throw new Error('there is no browser')
  await inspected.addCookies(await page.context().cookies())
  const copy = await inspected.newPage()
  await copy.goto(page.url())
  await copy.addScriptTag({ path: AXE })
  const found = await copy.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, help, nodes }) => id + ': ' + help + ' ' + nodes.map(({ html }) => html).join(' ')))`,
  )
  await inspected.close()
  return found
}

const balanceOn = async (page: Page): Promise<number> =>
  Number((await page.locator('.side .balance strong').textContent())?.replaceAll(',', ''))

const focused = (page: Page) => page.evaluate<string>('document.activeElement.id')

const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')

t.test('a picture, from the first visit to its variation', needsPrograms('chromium'), async t => {
  const { page, complaints } = await openPlayground()
  t.match(await page.getByLabel('Prompt').inputValue(), /lighthouse/, 'the first visit has an example')
  t.same(await violationsOn(page), [])
  const run = page.getByRole('button', { name: /^Run for/ })
  await run.getByText('Run for 10 credits').waitFor()
  await page.getByLabel('Prompt').fill('a quiet mountain lake at sunrise')
  await page.getByText('2K', { exact: true }).click()
  await page.getByRole('button', { name: 'More: Images' }).click()
  await run.getByText('Run for 30 credits').waitFor()
  await page.getByText('10 × 2 images × 1.5 (2K)').waitFor()
  await page.getByText('leaves 70').waitFor()
  await run.click()
  const pictures = page.getByRole('img', { name: 'a quiet mountain lake at sunrise' })
  await pictures.nth(1).waitFor()
  t.equal(await pictures.count(), 2)
  await page.locator('#stage').getByText('Completed').waitFor()
  t.equal(await balanceOn(page), 70)
  t.match(page.url(), /model=nano-banana-2&run=run_/)
  t.match(await page.locator('#status').textContent(), /^Completed in/)
  t.same(await violationsOn(page), [])
  await page.getByText('1K', { exact: true }).click()
  await run.getByText('Run for 20 credits').waitFor()
  await page.getByRole('button', { name: 'Vary the seed' }).click()
  await until('the variation is there', async () => (await page.locator('.strip li').count()) === 2)
  t.equal(await balanceOn(page), 40)
  await page.reload()
  t.equal(await page.getByLabel('Prompt').inputValue(), 'a quiet mountain lake at sunrise', 'the form is as it was')
  t.same(complaints, [])
})

t.test('an image is uploaded, and changes what the form offers', needsPrograms('chromium'), async t => {
  const { page, complaints, service } = await openPlayground()
  await page.goto(`${service.url}/console/playground?model=flux-2-pro`)
  await page
    .getByLabel('choose a file')
    .setInputFiles({ name: 'garden.png', mimeType: 'image/png', buffer: await picture('png') })
  await page.getByText('match input image', { exact: true }).waitFor()
  t.match(await page.locator('#in-image_url').inputValue(), /\/cdn\/uploads\/\w+\.png$/)
  await page.locator('.drop img').waitFor()
  await page.getByLabel('Prompt').fill('make it winter')
  await page.getByRole('button', { name: /^Run for/ }).click()
  await page.getByRole('img', { name: 'make it winter' }).waitFor()
  await page.getByRole('link', { name: 'Use as input' }).click()
  t.match(await page.locator('#in-image_url').inputValue(), /\/cdn\/outputs\//)
  await page.getByRole('button', { name: 'Remove: Image' }).click()
  await page.getByText('match input image', { exact: true }).waitFor({ state: 'detached' })
  const bytes = [...(await picture('jpeg'))]
  const files = await page.evaluateHandle(
    `globalThis.files = new DataTransfer()
    files.items.add(new File([new Uint8Array(${JSON.stringify(bytes)})], 'a.jpg', { type: 'image/jpeg' }))
    files`,
  )
  const address = page.locator('#in-image_url')
  const isThere = async () => /\.jpe?g$/.test(await address.inputValue())
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: files })
  await until('the dropped file is there', isThere)
  const dropped = await address.inputValue()
  // Until the form with the file has come, another file would land in the one that it replaces.
  const isShown = async () => page.locator(`.drop img[src="${await address.inputValue()}"]`).waitFor()
  await isShown()
  await page.evaluate(`document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: files })) && undefined`)
  await until('the pasted file is there', async () => (await address.inputValue()) !== dropped && (await isThere()))
  await isShown()
  const camera = page.getByLabel('use the camera')
  t.equal(await camera.getAttribute('capture'), 'environment')
  await camera.setInputFiles({ name: 'shot.png', mimeType: 'image/png', buffer: await picture('png') })
  await until('the shot is there', async () => /\.png$/.test(await address.inputValue()))
  t.same(complaints, [])
})

t.test('a film', needsPrograms('chromium'), async t => {
  const { page, complaints, service } = await openPlayground()
  await page.goto(`${service.url}/console/playground/models`)
  await page.getByLabel('Search models').fill('veo 3.1 fast')
  await page.getByRole('link', { name: /Veo 3.1 Fast/ }).click()
  await page.getByRole('group', { name: 'Duration' }).getByText('4').click()
  await page.getByLabel('Audio').uncheck()
  await page.getByRole('button', { name: /Run for 40 credits/ }).click()
  await page.locator('#stage progress').waitFor()
  t.same(await violationsOn(page), [])
  await page.locator('#stage video[controls]').waitFor()
  await page.locator('[data-size]').getByText('×').waitFor()
  t.equal(await balanceOn(page), 60)
  t.same(await violationsOn(page), [])
  await page.getByRole('button', { name: /Run for 40 credits/ }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Cancelled · 40 credits refunded' }).waitFor()
  t.equal(await balanceOn(page), 60)
  t.same(complaints, [])
})

t.test('a text streams into its frame, by keyboard only', needsPrograms('chromium'), async t => {
  const { page, complaints, service } = await openPlayground()
  await page.goto(`${service.url}/console/playground?model=claude-haiku-4-5`)
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Skip to the content')
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Skip to the form')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  t.equal(await focused(page), 'in-prompt')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('Tell me about tides, at some length.')
  await page.getByRole('button', { name: /^Run for up to 2\.48 credits/ }).waitFor()
  await page.getByText(/^about 0\.24 for an answer of 400 tokens$/).waitFor()
  await page.getByText(/^at most 12\d tokens in at 120 a million .* = 2\.47/).waitFor()
  const texts: string[] = []
  await page.exposeFunction('note', (text: string) => texts.push(text))
  await page.evaluate(`new MutationObserver(() => {
    const answer = document.querySelector('#stage [data-answer]')
    if (answer) note(answer.textContent)
  }).observe(document.querySelector('.stage'), { subtree: true, childList: true, characterData: true })`)
  await page.keyboard.press('Control+Enter')
  await page.locator('#stage').getByText('Completed').waitFor()
  const whole = (await page.locator('#answer').textContent()) ?? ''
  t.match(whole, /tides/)
  const parts = new Set(texts.filter(text => text !== '' && text.length < whole.length))
  t.ok(parts.size > 1, 'it arrives in pieces')
  t.ok([...parts].every(part => whole.startsWith(part)))
  t.ok((await balanceOn(page)) < 100)
  await until('the focus stays', async () => (await focused(page)) === 'in-prompt')
  t.notMatch(whole, /seed/, 'the model takes none')
  while ((await focused(page)) !== 'run') await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await until('the second run is there', async () => (await page.locator('.strip li').count()) === 2)
  await until('the focus comes back to the button', async () => (await focused(page)) === 'run')
  await page.getByRole('button', { name: 'Again for up to 2.48 credits' }).press('Enter')
  await until('the third run is there', async () => (await page.locator('.strip li').count()) === 3)
  await until('the focus is at the result', async () => (await focused(page)) === 'stage-heading')
  t.same(complaints, [])
})

t.test('a key that is held sends a form once', needsPrograms('chromium'), async t => {
  const { page, service } = await openPlayground()
  const listed = (path: string) =>
    page.evaluate<number>(`fetch('${path}').then(answer => answer.json()).then(({ data }) => data.length)`)
  /** Each press after the first is a repeat, as of a key that is held. Stops when the page is left. */
  const hold = async (keys: string[], times: number) => {
    for (const key of keys.slice(0, -1)) await page.keyboard.down(key)
    for (let time = 0; time < times; time++) await page.keyboard.down(keys.at(-1) ?? '')
    for (const key of keys) await page.keyboard.up(key)
  }
  const isDone = () => page.locator('#stage').getByText('Completed').waitFor()
  await page.locator('#in-prompt').focus()
  await hold(['Control', 'Enter'], 40)
  await isDone()
  t.equal(await listed('/v1/runs'), 1, 'in a field')
  await page.getByRole('button', { name: /^Again/ }).focus()
  await hold(['Enter'], 40)
  await until('it was made again', async () => (await listed('/v1/runs')) > 1)
  await isDone()
  await page.locator('#run').focus()
  await hold(['Enter'], 40)
  await until('it was run again', async () => (await listed('/v1/runs')) > 2)
  await isDone()
  t.equal(await listed('/v1/runs'), 3, 'on a button')

  await page.goto(`${service.url}/console/keys`)
  await page.locator('#name').fill('website')
  await page.evaluate(`(() => {
    const form = document.querySelector('#name').form
    form.requestSubmit()
    form.requestSubmit()
  })()`)
  await page.locator('#new-key').waitFor()
  t.equal(await listed('/v1/keys'), 1, 'by a shortcut')
})

t.test('faults are told at their fields', needsPrograms('chromium'), async t => {
  const { page, service } = await openPlayground()
  await page.getByLabel('Prompt').fill('')
  await page.keyboard.press('Control+Enter')
  const fault = page.locator('#in-prompt-fault')
  await fault.getByText('Prompt').waitFor()
  await until('the field has the focus', async () => (await focused(page)) === 'in-prompt')
  t.equal(await page.getByLabel('Prompt').getAttribute('aria-invalid'), 'true')
  await page.getByLabel('Prompt').fill('a lake')
  await until('the fault is gone', () => fault.isHidden())
  await page.getByText('More options').click()
  await page.getByLabel('Seed').fill('-1')
  await page.locator('#in-seed-fault').getByText('Seed must be at least 0').waitFor()
  await page.goto(`${service.url}/console/playground?model=veo-3-1`)
  await page.getByRole('button', { name: /^Run for/ }).click()
  await page.getByRole('alert').getByText('credits').waitFor()
  t.equal(await balanceOn(page), 100)
})

t.test('form and JSON are two views of the same', needsPrograms('chromium'), async t => {
  const { page, complaints, context } = await openPlayground()
  await page.getByLabel('Prompt').fill('a "lake"')
  await page.getByText('9:16', { exact: true }).click()
  await page.getByRole('button', { name: 'JSON' }).click()
  const json = page.locator('#json')
  t.same(JSON.parse(await json.inputValue()), { prompt: 'a "lake"', aspect_ratio: '9:16' })
  await json.fill('{"prompt": "a hill", "num_images": 3}')
  await page.getByRole('button', { name: 'Run for 30 credits' }).waitFor()
  const request = await page.locator('#request-curl').textContent()
  t.match(request, /a hill/)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click()
  await page.getByText('Copied').first().waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), request)
  await json.fill('{"prompt": ')
  await page.locator('#json-faults').getByText('not a JSON object: it breaks in line 1, column 12').waitFor()
  await page.getByText('The price shows when the form is right.').waitFor()
  await json.fill('{\n  "prompt": hello,\n  "seed": 7}')
  await page.locator('#json-faults').getByText('line 2, column 13').waitFor()
  await json.fill('{"prompt": ')
  await page.locator('#json-faults').getByText('line 1, column 12').waitFor()
  await page.getByRole('button', { name: 'Form' }).click()
  t.equal(await json.inputValue(), '{"prompt": ', 'nothing that cannot be read is lost')
  await json.fill('{"prompt": "a hill", "num_images": 3}')
  await page.getByRole('button', { name: 'Form' }).click()
  await page.getByLabel('Prompt').waitFor()
  t.equal(await page.locator('#in-num_images').inputValue(), '3')
  t.same(complaints, [])
})

t.test('a phone without JavaScript', needsPrograms('chromium'), async t => {
  const { page, complaints } = await openPlayground({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  })
  t.same(await violationsOn(page), [])
  await page.getByLabel('Prompt').fill('snow over a pine forest')
  await page.getByText('4K', { exact: true }).click()
  await page.getByRole('button', { name: 'Run for 10 credits' }).click()
  await page.getByRole('alert').getByText('costs 20 credits, more than the button said').waitFor()
  await page.getByRole('button', { name: 'Run for 20 credits' }).click()
  const made = page.getByRole('img', { name: 'snow over a pine forest' })
  const again = page.getByRole('link', { name: 'Look again' })
  const isMade = async () => {
    if (await made.isVisible()) return true
    // A busy machine takes longer than the page waits.
    if (await again.isVisible()) await again.click()
    return false
  }
  await until('the picture is there', isMade, { pollMs: 500, maxWaitMs: PATIENCE_MS })
  t.match(await page.locator('#stage').textContent(), /Completed.*20 credits/)
  const [result, form] = await Promise.all([
    page.locator('#stage').boundingBox(),
    page.getByLabel('Prompt').boundingBox(),
  ])
  t.ok(result && form && result.y < form.y, 'the result comes first')
  await page.getByRole('button', { name: 'JSON' }).click()
  await page.locator('#json').fill('{"prompt": "a hill"}')
  await page.getByRole('button', { name: 'Form' }).click()
  t.equal(await page.getByLabel('Prompt').inputValue(), 'a hill')
  await page.getByRole('link', { name: 'Change the model' }).click()
  await page.getByLabel('Search models').fill('no such model')
  await page.keyboard.press('Enter')
  await page.getByText('No model matches').waitFor()
  t.same(complaints, [])
})

t.test('the field that made a run fail is marked until it changes', needsPrograms('chromium'), async t => {
  const { page, complaints } = await openPlayground()
  const address = page.locator('#in-image_url')
  await address.fill('https://nowhere.invalid/a.png')
  await page.getByRole('button', { name: /^Run for/ }).click()
  await page.locator('#stage').getByText('The input could not be used').first().waitFor()
  await page.getByText('This made the run fail.').waitFor()
  t.equal(await address.getAttribute('aria-invalid'), 'true')
  await address.fill('')
  await page.getByText('This made the run fail.').waitFor({ state: 'hidden' })
  await page.locator('#in-image_url:not([aria-invalid])').waitFor()
  t.same(complaints, [])
})

t.test('on a phone the prompt comes first, then the result', needsPrograms('chromium'), async t => {
  const { page, complaints, service } = await openPlayground({ viewport: { width: 390, height: 844 } })
  const bottomOf = async (selector: string) => {
    const box = await page.locator(selector).boundingBox()
    return box ? box.y + box.height : Number.NaN
  }
  const topOf = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? Number.NaN
  t.ok((await bottomOf('#in-prompt')) < (await topOf('#run')), 'the prompt is above the button')
  t.ok((await topOf('#price')) < (await topOf('#run')) && (await bottomOf('#run')) < 844, 'with its price')
  t.ok((await topOf('#run')) < (await topOf('#stage')))
  await page.getByRole('button', { name: /^Run for/ }).click()
  await page.locator('#stage').getByText('Completed').waitFor()
  t.ok((await topOf('#stage')) < 100, 'the result is on the screen')
  t.ok((await bottomOf('#stage')) < (await topOf('#composer')))
  t.ok((await topOf('#composer')) < (await topOf('#requests')))
  t.ok((await bottomOf('.run-bar')) <= (await topOf('.tab-bar')), 'the button is in reach beside the result')
  await page.goto(`${service.url}/console/playground`)
  for (let step = 0; step < 8; step++) {
    await page.mouse.wheel(0, 60)
    // Both at one moment: the page scrolls on.
    const [prompt, run] = await page.evaluate<[number, number]>(
      '["in-prompt", "run"].map(id => document.getElementById(id).getBoundingClientRect().top)',
    )
    t.ok(run > prompt + 60 || run > 785, `the button at ${run} shows only with the prompt at ${prompt}`)
  }
  await page.goto(`${service.url}/console/playground`)
  t.ok((await topOf('#run')) > (await bottomOf('#in-prompt')), 'the button is not above the prompt')
  t.ok((await topOf('#composer')) < (await topOf('#stage')), 'what was not asked for comes later')
  t.same(complaints, [])
})

t.test('a service that cannot be reached is told at the button', needsPrograms('chromium'), async t => {
  const { page, context } = await openPlayground()
  await page.getByLabel('Prompt').fill('a lake in the fog')
  await page.getByText('leaves 90').waitFor()
  await context.setOffline(true)
  await page.getByRole('button', { name: /^Run for/ }).click()
  const alert = page.locator('.run-bar').getByRole('alert')
  await alert.getByText('look there before you try again').waitFor()
  t.equal(await page.getByLabel('Prompt').inputValue(), 'a lake in the fog')
  t.equal(await focused(page), 'run')
  await context.setOffline(false)
  await page.route('**/console/playground', route => route.fulfill({ status: 502, body: '<html><h1>Bad gateway' }))
  const missed = page.waitForResponse(response => response.status() === 502)
  await page.getByRole('button', { name: /^Run for/ }).click()
  await missed
  await alert.getByText('look there before you try again').waitFor()
  t.equal(await page.getByText('Bad gateway').count(), 0, 'the page of a proxy is no result')
  await page.unroute('**/console/playground')
  await page.getByRole('button', { name: /^Run for/ }).click()
  await page.getByRole('img', { name: 'a lake in the fog' }).waitFor()
  t.equal(await alert.count(), 0)
})

t.test('a run is opened to be run again', needsPrograms('chromium'), async t => {
  const { page, complaints } = await openPlayground()
  await page.getByRole('button', { name: /^Run for/ }).click()
  await page.getByText('the sandbox made a sample, and charged as the model would').waitFor()
  await page.getByRole('link', { name: 'Details' }).click()
  await page.getByRole('link', { name: 'Open in playground' }).click()
  await page.getByText('Nothing has run yet').waitFor()
  t.equal(await page.locator('#stage').getByText('Completed').count(), 0)
  t.equal(await focused(page), 'run')
  t.equal(await page.locator('.strip li').count(), 1)
  t.same(await violationsOn(page), [])
  t.same(complaints, [])
})

t.test('the focus follows what opens', needsPrograms('chromium'), async t => {
  const { page, service } = await openPlayground()
  await page.goto(`${service.url}/console/keys`)
  await page.getByLabel('Name').fill('first')
  await page.keyboard.press('Enter')
  await page.getByText('“first” is ready').waitFor()
  t.match(await page.evaluate('document.activeElement.textContent'), /is ready/)
  await page.locator('summary', { hasText: 'Create new key' }).press('Enter')
  await until('the name has the focus', async () => (await focused(page)) === 'name')
})

t.test('in test mode the balance is whole, and the button costs nothing', needsPrograms('chromium'), async t => {
  const { page, complaints } = await openPlayground()
  await page.getByRole('switch', { name: 'Test mode' }).click()
  await page.getByText('would cost 10 credits').waitFor()
  const balance = await page.locator('.side .balance').boundingBox()
  t.ok(balance && balance.y + balance.height <= 900, 'it is on the screen')
  t.same(complaints, [])
})

t.test('nothing is wider than a phone', needsPrograms('chromium'), async t => {
  const { page, service } = await openPlayground({ viewport: { width: 320, height: 640 } })
  for (const path of ['', '/models', '?model=recraft-v3', '?model=gpt-6-1-terra', '?model=ltx-2-3-pro']) {
    await page.goto(`${service.url}/console/playground${path}`)
    t.notOk(await isTooWide(page), path)
  }
})
