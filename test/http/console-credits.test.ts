import t from 'tap'
import { check, parseKeys } from '#verify'
import type { AccountId } from '../../schemas/primitives.ts'
import { endsOf } from '../../src/console/credits/balance-card.tsx'
import { htmlOf } from '../../src/console/document.tsx'
import type { PageState } from '../../src/console/page-state.ts'
import { Columns } from '../../src/console/parts/chart.tsx'
import { credits } from '../../src/console/parts/text.ts'
import { toMicros } from '../../src/domain/money.ts'
import { readByHledger } from '../support/book-keepers.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { Client } from '../support/client.ts'
import { readCredits } from '../support/credits-page.ts'
import { parseCsv } from '../support/csv.ts'
import { needsPrograms } from '../support/needs.ts'
import { pageText, pdfPages } from '../support/pdf-text.ts'
import { instantProvider, type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'test' } as const
const environment = { TRUSTED_PROXIES: '127.0.0.1', SEAL_EVENTS: '10' }
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })

/** An owner in a browser, with a key of the account. */
const openOwner = async ({ core, url }: Service, email = `${crypto.randomUUID()}@example.com`) => {
  const browser = new BrowserClient(url)
  await browser.signIn(service, email)
  const { account } = unwrap(await core.services.accounts.findByEmail(operator, email))
  const { accountId } = account
  const { apiKey } = unwrap(await core.services.keys.create(operator, accountId, { name: 'production' }))
  const client = new Client(url, apiKey)
  return {
    ...{ browser, accountId, client },
    page: async (path = '/console/credits') => {
      const reply = await browser.get(path)
      t.equal(reply.status, 200, path)
      return { ...readCredits(reply.text), text: reply.text }
    },
    run: async (model: string, label?: string) => {
      const { status } = await client.post('/v1/run', { model, input: { prompt: 'a lake' }, ...(label && { label }) })
      t.equal(status, 200)
    },
  }
}

const buy = async (accountId: AccountId, credits: number, kind: 'purchase' | 'courtesy' = 'purchase') =>
  unwrap(
    await service.core.services.accounts.grant(operator, accountId, {
      ...{ amountMicros: toMicros(credits), kind, reason: 'paid by card', reference: crypto.randomUUID() },
      ...(kind === 'purchase' && { payment: { amount: '25.00', currency: 'EUR', invoice: '2026-17', tax: '3.99' } }),
    }),
  )

const total = (micros: number[]) => micros.reduce((sum, each) => sum + each, 0)

/** Models with different prices, more than the page names. */
const MODELS = [
  ...['nano-banana-2', 'nano-banana-pro', 'seedream-4-5', 'flux-2-pro', 'flux-2-flex', 'flux-kontext-max'],
  ...['gpt-image-2-6', 'seedream-5-pro', 'nano-banana-2-lite', 'ideogram-v3', 'recraft-v3', 'qwen-image'],
]

t.test('an account without runs sees what credits are, and where to make the first run', async t => {
  const { page } = await openOwner(service)
  const { text, figures, lines, spending } = await page()
  t.match(text, /You have 100 credits to try.*href="\/console\/playground"/s)
  t.same(figures, [100e6, 0, 100e6, 0])
  t.match(lines, [{ what: 'Welcome credits', change: 100e6, balance: 100e6 }])
  t.equal(lines.length, 1)
  t.same(spending, [])
})

t.test('the figures tell bought from free credits, as the API does', async t => {
  const { page, run, accountId, client } = await openOwner(service)
  await buy(accountId, 1234.5)
  await run('nano-banana-2')
  const { figures, text } = await page()
  t.same(figures, [toMicros(1324.5), toMicros(1234.5), toMicros(90), 0])
  t.match(text, '<strong>1,324<span class="decimals">.5</span></strong>', 'no decimal is lost')
  t.notMatch(text, 'Make your first run')
  const { body } = await client.send<object>('/v1/balance')
  t.same(body, {
    ...{ object: 'balance', credits_balance: 1324.5, credits_paid: 1234.5, credits_free: 90, credits_held: 0 },
  })
  for (let count = 0; count < 10; count++) await run('nano-banana-2')
  t.same((await page()).figures, [toMicros(1224.5), toMicros(1224.5), 0, 0])
})

t.test('numbers of a column align at their points, and made-up references are not shown', async t => {
  const { page, accountId } = await openOwner(service)
  for (const [credits, reference] of [[0.25, `console-${crypto.randomUUID()}`] as const, [1.5, 'ticket-7'] as const]) {
    const grant = { amountMicros: toMicros(credits), kind: 'courtesy', reason: 'an outage', reference } as const
    unwrap(await service.core.services.accounts.grant(operator, accountId, grant))
  }
  const { text, lines } = await page()
  t.match(
    lines.map(({ change }) => change),
    [1.5e6, 0.25e6, 100e6],
  )
  for (const cell of [' data-lacks="0">+1.5<', '"grant">+0.25<', ' data-lacks=".00">+100<']) t.match(text, cell)
  t.match(text, '>an outage, ticket-7<')
  t.match(text, '>an outage<')
  t.match(text, /<title>\w+ \d+: Granted 1.5, Granted 0.25, Welcome credits 100</, 'the chart names what was added')
})

t.test('the names below the balance are few and different', t => {
  const at = (time: string) => ({ day: time.slice(0, 10), time, at: 0, balanceMicros: 0 })
  const names = (...times: string[]) => endsOf(times.map(at))
  t.same(names('2026-11-27T23:55:00Z', '2026-11-27T23:55:20Z', '2026-11-27T23:55:40Z'), ['23:55 UTC'])
  t.same(names('2026-11-27T23:50:00Z', '2026-11-27T23:55:20Z', '2026-11-27T23:55:40Z'), ['23:50 UTC', '23:55 UTC'])
  t.same(names('2026-11-26T00:00:00Z', '2026-11-26T12:00:00Z', '2026-11-27T00:00:00Z'), ['Nov 26', 'Nov 27'])
  t.same(names('2026-11-25T00:00:00Z', '2026-11-26T00:00:00Z', '2026-11-27T00:00:00Z').length, 3)
  t.end()
})

t.test('the largest of some columns has its value above it', t => {
  const columns = (...values: number[]) =>
    htmlOf(
      Columns({ label: 'Spent', values: values.map(value => ({ value, text: `day ${value}` })), show: credits }),
      {} as PageState,
    )
  const above = (html: string) => [...html.matchAll(/<text x="([\d.]+%)"[^>]*text-anchor="(\w+)">(.*?)</g)]
  t.match(above(columns(1e6, 24e6, 0, 2.5e6)), [[/./, '37.5%', 'middle', '24']])
  t.match(above(columns(0, 1e6)), [[/./, '75.0%', 'middle', '1']])
  t.same(above(columns(0, 0)), [], 'nothing was spent')
  t.end()
})

t.test('sums equal their rows, by model, key and label, with a last row for the others', async t => {
  const { page, run, accountId } = await openOwner(service)
  await buy(accountId, 1000)
  for (const [index, model] of MODELS.entries()) await run(model, index % 3 === 0 ? undefined : `label ${index}`)
  await buy(accountId, 50, 'courtesy')
  const { figures, ...byModel } = await page('/console/credits?range=7d')
  const [balance = 0] = figures
  const spent = toMicros(1150) - balance
  t.equal(byModel.sum, spent)
  t.match(byModel.spending.at(-1), { name: 'Other (4)' })
  t.equal(byModel.spending.length, 9)
  t.equal(byModel.spending[0]?.name, 'GPT Image 2.6', 'the largest comes first')
  for (const by of ['model', 'key', 'label']) {
    const { spending, sum, days, lines } = await page(`/console/credits?range=7d&by=${by}`)
    t.equal(total(spending.map(({ micros }) => micros)), spent, by)
    t.equal(sum, spent)
    t.equal(total(days.map(day => day.spent)), spent)
    t.equal(total(days.map(day => day.added)), toMicros(1150), 'what was added is told apart from what was spent')
    t.equal(days[0]?.balance, balance)
    t.equal(total(lines.map(({ change }) => change)), balance, 'the lines add up to the balance')
  }
  const { spending: labels } = await page('/console/credits?by=label')
  t.ok(labels.some(({ name }) => name === 'No label'))
  t.match((await page('/console/credits?by=key')).spending, [{ name: 'production' }])
})

t.test('a group that would be the only other one is named', async t => {
  const { page, run } = await openOwner(service)
  for (const model of MODELS.filter(model => model !== 'gpt-image-2-6').slice(0, 9)) await run(model)
  const { spending } = await page()
  t.equal(spending.length, 9)
  t.notOk(spending.some(({ name }) => name.startsWith('Other')))
})

t.test('the statement has pages, older and newer, and files hold exactly the lines of the range', async t => {
  const { page, run, accountId, browser } = await openOwner(service)
  await buy(accountId, 1000)
  for (let count = 0; count < 110; count++) await run(MODELS[count % 4] ?? '', count % 2 ? '=1+1' : '<b>bold</b> ')
  const first = await page()
  t.equal(first.lines.length, 50)
  t.equal(first.newer, undefined)
  const second = await page(first.older)
  const third = await page(second.older)
  t.equal(third.older, undefined)
  const all = [...first.lines, ...second.lines, ...third.lines]
  t.equal(all.length, 112)
  for (const [index, { change, balance }] of all.entries())
    t.equal(balance - change, all[index + 1]?.balance ?? 0, 'each balance follows from the one before')
  t.same((await page(third.newer)).lines, second.lines)
  t.same((await page(second.newer)).lines, first.lines)
  t.match(first.text, '&lt;b>bold&lt;/b>', 'labels are shown as text')

  const { csv = '', hledger = '', pdf = '' } = first.downloads
  const file = await browser.get(csv)
  t.match(file.headers.get('Content-Disposition'), /attachment; filename="statement\.csv"/)
  const rows = parseCsv(file.text).reverse()
  t.same(
    rows.map(row => [
      row['time']?.slice(0, 19).replace('T', ' '),
      row['what'],
      toMicros(Number(row['credits'])),
      toMicros(Number(row['balance'])),
    ]),
    all.map(({ time, what, change, balance }) => [time, what, change, balance]),
  )
  const bought = { payment_amount: '25.00', payment_currency: 'EUR', payment_tax: '3.99' }
  t.match(
    rows.find(row => row['what'] === 'Bought'),
    { ...bought, detail: /25\.00 EUR, 3\.99 EUR of it tax/ },
  )
  t.ok(
    rows.some(row => row['label'] === "'=1+1"),
    'no cell is a formula',
  )
  const journal = (await browser.get(hledger)).text
  t.equal([...journal.matchAll(/^\d{4}-\d\d-\d\d \*/gm)].length, all.length)
  const drawn = await bytesOf(pdf, browser)
  const text = pdfPages(drawn).map(pageText).join('\n')
  t.match(text, 'Welcome credits')
  for (const amount of ['+1,000', '−15']) t.match(text, amount)
  // A period that holds nothing of the account.
  const empty = csv.replace(/from=[^&]*/, 'from=2020-01-01').replace(/to=[^&]*/, 'to=2020-01-02')
  t.equal(parseCsv((await browser.get(empty)).text).length, 0)
  t.match(await browser.get('/console/credits/statement.csv'), { status: 400 })
  t.match(await browser.get('/console/credits/statement.doc?from=2020-01-01&to=2020-01-02'), { status: 404 })
})

/** The bytes of a file that is not text. */
const bytesOf = async (path: string, { cookies }: BrowserClient): Promise<Uint8Array> => {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await fetch(service.url + path, { headers: { cookie } })
  return new Uint8Array(await answer.arrayBuffer())
}

t.test('hledger reads the journal, with each balance asserted', needsPrograms('hledger'), async t => {
  const { page, run, accountId, browser } = await openOwner(service)
  await buy(accountId, 10)
  for (const model of MODELS.slice(0, 5)) await run(model, 'a, label; with | marks')
  const { downloads, figures } = await page()
  const { balances } = await readByHledger(t, (await browser.get(downloads['hledger'] ?? '')).text)
  t.equal(balances['Assets:Tollgate'], figures[0])
})

t.test('the proof of all events is right for the program that customers run', async t => {
  const { browser, run, accountId } = await openOwner(service)
  await buy(accountId, 100)
  for (const model of MODELS) await run(model)
  const proof = await until('the events are sealed', async () => {
    const { status, text } = await browser.get('/console/credits/proof.json')
    return status === 200 && text.includes(MODELS[8] ?? '') && text
  })
  const keys = parseKeys((await browser.get('/v1/ledger/keys')).text)
  const [right = '', ...lines] = check(proof, keys)
  t.match(right, /^right: acct_\w+ has \d+ events up to the seal, all here$/)
  t.equal(proof.split('\n').length, Number(/has (\d+) events/.exec(right)?.[1]) + 3, 'each event is a line')
  t.ok(lines.some(line => /^prices: (9|1\d) recomputed$/.test(line)))
  t.throws(() => check(proof.replace('"amountMicros', '"amountMicro5'), keys))
  const stranger = new BrowserClient(service.url)
  t.match(await stranger.get('/console/credits/proof.json'), { status: 303, location: '/console/sign-in' })
})

t.test('an account that no seal covers yet is told so', async t => {
  const quiet = await startService(t, { providers: { sandbox: instantProvider } })
  const browser = new BrowserClient(quiet.url)
  await browser.signIn(quiet, 'ada@example.com')
  const { status, text } = await browser.get('/console/credits/proof.json', { accept: 'application/json' })
  t.match({ status, error: JSON.parse(text).error }, { status: 409, error: { code: 'not_sealed' } })
  const chain = await browser.get('/console/credits/chain.json')
  const { stream, last, events } = JSON.parse(chain.text)
  t.match([chain.status, stream, events.length], [200, /^account-/, last + 1])
  t.match(await new BrowserClient(quiet.url).get('/console/credits/chain.json'), { status: 303 })
})

t.test('test mode shows the same credits, since test runs cost nothing', async t => {
  const { page, run, browser } = await openOwner(service)
  await run('nano-banana-2')
  const { figures, lines, spending } = await page()
  t.match(await browser.post('/console/mode', { mode: 'test' }), { status: 303 })
  const inTestMode = await page()
  t.match(inTestMode.text, 'test-band')
  t.same([inTestMode.figures, inTestMode.lines, inTestMode.spending], [figures, lines, spending])
})

t.test('an address that people changed shows what it can', async t => {
  const { page, browser } = await openOwner(service)
  const { text } = await page('/console/credits?range=forever&by=planet&cursor=none')
  t.match(text, /id="range-30d"[^>]*aria-current="true"/)
  t.match(text, /id="by-model"[^>]*aria-current="true"/)
  t.match(await browser.get('/console/credits?cursor=999999'), { status: 400, text: /cursor/ })
  for (const format of ['exe', '__proto__', 'toString'])
    t.equal((await browser.get(`/console/credits/statement.${format}?from=2026-01-01&to=2026-02-01`)).status, 404)
  t.match(await new BrowserClient(service.url).get('/console/credits'), { status: 303, location: '/console/sign-in' })
})

t.test('what comes back of a run has its key, and tells what the run cost', async t => {
  const { page, run } = await openOwner(service)
  await run('gpt-6-1-terra', 'essay')
  const { text, lines } = await page()
  const [back, held] = lines
  t.match(back, { what: 'Returned, GPT-6.1 Terra', key: 'production', label: 'essay' })
  t.match(held, { what: 'GPT-6.1 Terra', key: 'production' })
  const [, cost, most] = /the run cost ([\d.]+) of ([\d.]+) held/.exec(text) ?? []
  t.equal(toMicros(Number(most)), -(held?.change ?? 0))
  t.equal(toMicros(Number(cost)), -(held?.change ?? 0) - (back?.change ?? 0))
})
