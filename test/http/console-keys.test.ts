import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { MAX_NAME_LENGTH } from '../../schemas/primitives.ts'
import { BrowserClient, signedInAt, textOf } from '../support/browser-client.ts'
import { instantProvider, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const environment = { TRUSTED_PROXIES: '127.0.0.1' }
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })

const signedIn = (email: string) => signedInAt(service, email)

/** The commands on a page. */
const commandsOn = (html: string) =>
  [...html.matchAll(/<code[^>]*>(curl[^<]*)<\/code>/g)].map(([, code = '']) => textOf(code))

const keyOn = (html: string) => /<code[^>]*>(tg_sk_(?:live|test)_[0-9a-f]{32})<\/code>/.exec(html)?.[1]

const runShell = async (command: string) => JSON.parse((await promisify(execFile)('sh', ['-c', command])).stdout)

t.test('an owner creates a key, tries it as the page says, and revokes it', async t => {
  const browser = await signedIn('ada@example.com')
  t.match((await browser.get('/console/keys')).text, 'You have no keys yet')
  const shown = await browser.post('/console/keys', { name: 'website', scope: 'full' })
  t.equal(shown.status, 200)
  t.equal(shown.headers.get('Cache-Control'), 'no-store')
  const key = keyOn(shown.text)
  t.match(textOf(shown.text), /You will not see it again/)
  const [command = ''] = commandsOn(shown.text)
  t.match(command, key, 'the first request holds the key')
  t.match(await runShell(command), { object: 'run', status: 'completed', credits_charged: 10 })

  const row = new RegExp(
    `website\\s+tg_sk_live_\\s*…${key?.slice(-4)}\\s+run and read everything\\s+–\\s+used\\s+today\\s+Revoke`,
  )
  const home = await until('the use of the key is recorded', async () => {
    const page = await browser.get('/console/keys')
    return row.test(textOf(page.text)) && page
  })
  t.notMatch(home.text, key, 'the key is shown once')
  t.match(home.text, 'Balance<strong>90<')

  t.match(home.text, '<th>Scope</th>')
  const [, path = ''] = /href="(\/console\/keys\/key_\w+\/revoke)"/.exec(home.text) ?? []
  t.match(textOf((await browser.get(path)).text), /Revoke “\s*website\s*”\?.*cannot\s+undo/s)
  t.match((await browser.get(path)).text, /<input id="name"[^>]* autofocus/, 'the name is asked for')
  t.equal((await service.client(key).send('/v1/balance')).status, 200, 'asking revokes nothing')
  t.match(await browser.post(path), { status: 400, text: /This is not the name of the key/ }, 'it was used today')
  t.equal((await service.client(key).send('/v1/balance')).status, 200)
  const revoked = await browser.post(path, { name: 'website' })
  t.match(revoked, { status: 303, location: /^\/console\/keys\?revoked=key_/ })
  t.match(textOf((await browser.get(revoked.location ?? '')).text), /The key “\s*website\s*” is revoked/)
  t.equal((await service.client(key).send('/v1/balance')).status, 401)
  t.match((await browser.get('/console/keys')).text, 'You have no keys yet')
  t.match(await browser.post(path), { status: 404, text: /no such active key/ })
})

t.test('the page shows the named budgets with their use', async t => {
  const browser = await signedIn('budgets@example.com')
  t.notMatch((await browser.get('/console/keys')).text, '<h2 id="budgets">')
  await browser.send('POST', '/v1/budgets', { name: 'task <7>', credits: 25, period: 'month' })
  await browser.send('POST', '/v1/budgets', { name: 'once', credits: 5 })
  const input = { prompt: 'a lake' }
  await browser.send('POST', '/v1/run', { model: 'nano-banana-2', input, budget: 'task <7>' })
  const { text } = await browser.get('/console/keys')
  t.match(textOf(text), /Budgets.*once\s+0 of 5\s+renews\s+never\s+task <7>\s+10 of 25 a month/s)
})

t.test('keys of each kind are created, with a request that they may send', async t => {
  const browser = await signedIn('grace@example.com')
  const create = async (fields: Record<string, string>) => {
    const { text } = await browser.post('/console/keys', fields)
    return { key: keyOn(text), answer: await runShell(commandsOn(text)[0] ?? '') }
  }
  t.match((await create({ name: 'reader', scope: 'read' })).answer, { object: 'balance' })
  t.match((await create({ name: 'manager', scope: 'keys' })).answer, {
    object: 'list',
    data: [{ object: 'api_key' }, {}],
  })
  const test = await create({ name: 'ci', scope: 'full', mode: 'test' })
  t.match(test, { key: /^tg_sk_test_/, answer: { livemode: false, credits_charged: 0 } })
  t.match((await create({ name: 'default' })).answer, { object: 'run' }, 'the scope is full by default')
  const { text } = await browser.get('/console/keys')
  t.match(textOf(text), /default.*ci\s+test.*manager.*manage keys only.*reader.*read only/s, 'the newest comes first')
})

t.test('faults of the form are shown in it with what was entered', async t => {
  const browser = await signedIn('alan@example.com')
  for (const [fields, fault] of [
    [{ name: '' }, /name/],
    [{ name: 'x'.repeat(MAX_NAME_LENGTH + 1) }, /name/],
    [{ name: 'a\u0007b' }, /name/],
    [{ name: 'website', scope: 'everything' }, /permission/],
  ] as const) {
    const { status, text } = await browser.post('/console/keys', fields)
    t.equal(status, 400)
    t.match(/role="alert">([^<]*)/.exec(text)?.[1], fault)
  }
  const { text } = await browser.post('/console/keys', { name: '<i>"x"', scope: 'nothing' })
  t.match(text, 'value="&lt;i>&quot;x&quot;"', 'what was typed is escaped')
  t.match((await browser.get('/console/keys')).text, 'You have no keys yet')
})

t.test('a key has the limits of the form, and faults stand at their fields', async t => {
  const browser = await signedIn('limits@example.com')
  const fields = {
    ...{ name: 'studio', mode: 'live', budget: '12.5', period: 'week', models: 'nano-banana-2' },
    ...{ addresses: '127.0.0.1\n10.0.0.0/8', expires: '2099-12-31' },
  }
  const { text } = await browser.post('/console/keys', fields)
  t.match(commandsOn(text)[0], '"model": "nano-banana-2"', 'the first request is one that it may send')
  t.match(textOf(text), /run nano-banana-2, from 2 networks\s+0 of 12\.5 a week/)
  const { body } = await browser.send('GET', '/v1/keys')
  t.match(body, {
    data: [
      {
        ...{ name: 'studio', models: ['nano-banana-2'], addresses: ['127.0.0.1/32', '10.0.0.0/8'] },
        ...{ budget: { credits: 12.5, period: 'week' }, expires_at: '2099-12-31T23:59:59.000Z' },
      },
    ],
  })
  for (const [change, id, fault] of [
    [{ budget: 'much' }, 'budget', /budget/],
    [{ budget: '-1' }, 'budget', /budget/],
    [{ budget: '0x10' }, 'budget', /budget must be a number/],
    [{ budget: '1e3' }, 'budget', /budget must be a number/],
    [{ budget: '0.0000001' }, 'budget', /six decimals/],
    [{ mode: 'test' }, 'budget', /left out/],
    [{ addresses: '10.0.0.0/99' }, 'addresses', /CIDR/],
    [{ expires: '2020-01-01' }, 'expires', /future/],
    [{ expires: '2099-02-31' }, 'expires', /last day/],
  ] as const) {
    const refused = await browser.post('/console/keys', { ...fields, ...change })
    t.equal(refused.status, 400)
    t.match(new RegExp(`id="${id}-fault"[^>]*>([^<]*)`).exec(refused.text)?.[1], fault, JSON.stringify(change))
    t.match(refused.text, 'value="studio"', 'the rest is still there')
  }
  t.match((await browser.post('/console/keys', { ...fields, models: 'nothing' })).text, /role="alert">A model is not/)
})

t.test('only the owner of the account, and no page of another site, manages its keys', async t => {
  const browser = await signedIn('edsger@example.com')
  await browser.post('/console/keys', { name: 'website' })
  const [, path = ''] =
    /href="(\/console\/keys\/key_\w+\/revoke)"/.exec((await browser.get('/console/keys')).text) ?? []
  const other = await signedIn('barbara@example.com')
  t.equal((await other.get(path)).status, 404)
  t.equal((await other.post(path)).status, 404)
  const stranger = new BrowserClient(service.url)
  for (const each of ['/console/keys', path])
    t.match(await stranger.post(each, { name: 'x' }), { status: 303, location: '/console/sign-in' })
  for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }])
    for (const each of ['/console/keys', path])
      t.equal((await browser.post(each, { name: 'x' }, headers as never)).status, 403)
  t.match(textOf((await browser.get('/console/keys')).text), /website\s+tg_sk_live_\s*….*Revoke/s)
})
