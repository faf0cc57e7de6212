import { gzipSync } from 'node:zlib'
import t from 'tap'
import { MAX_SESSIONS } from '../../schemas/primitives.ts'
import { BrowserClient, codeIn, messagesIn } from '../support/browser-client.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const ENTER_CODE = '/console/sign-in/code'
const BUSY = '/console/sign-in/code?busy'

const operator = { kind: 'operator', name: 'test' } as const

const folder = await temporaryFolder(t)
const environment = { TRUSTED_PROXIES: '127.0.0.1' }
const service = await startService(t, { folder, environment })

const cookiesOf = ({ cookies }: BrowserClient) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

const signedIn = async (email = `${crypto.randomUUID()}@example.com`) => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, email)
  return browser
}

t.test('a stranger registers with the code in the outbox', async t => {
  const browser = new BrowserClient(service.url)
  t.match(await browser.get('/console'), { status: 303, location: '/console/sign-in' })
  t.match(await browser.get('/console/sign-in'), { status: 200, text: /opens an account with 100 credits/ })
  const asked = await browser.post('/console/sign-in', { email: 'Ada@Example.com' })
  t.match(asked, { status: 303, location: '/console/sign-in/code' })
  const page = await browser.get('/console/sign-in/code')
  t.match(page.text, 'Ada@Example.com')
  t.match(page.text, /valid for 10 minutes\s*\./)
  t.match(page.text, `<code>${folder}/outbox</code>`, 'the page says where the message is')
  const code = await until('the code arrives', async () => codeIn((await messagesIn(service))[0]))
  t.match(await browser.post('/console/sign-in/code', { code }), { status: 303, location: '/console' })
  t.match(await browser.get('/console'), { status: 303, location: '/console/playground' })
  const settings = await browser.get('/console/settings')
  t.match(settings.text, /Signed in as <strong[^>]*>ada@example.com<\/strong>/)
  t.match(settings.text, />Balance<strong>100</)
  t.match(await browser.get('/console/sign-in'), { status: 303, location: '/console' })
  const balance = await browser.get('/v1/balance')
  t.match(JSON.parse(balance.text), { credits_balance: 100 })
  t.equal((await browser.get('/v1/ledger')).status, 200)
})

t.test('an account that opens without welcome credits says why', async t => {
  const [first, alias] = [new BrowserClient(service.url), new BrowserClient(service.url)]
  await first.signIn(service, 'grace@gmail.com')
  await alias.post('/console/sign-in', { email: 'gr.ace+1@gmail.com' })
  const arrived = async () => codeIn((await messagesIn(service)).find(text => text.includes('To: gr.ace+1@gmail.com')))
  const code = (await until('the code arrives', arrived)) as string
  const { location } = await alias.post('/console/sign-in/code', { code })
  t.equal(location, '/console/settings?no-credits=alias')
  const { text } = await alias.get(location ?? '')
  t.match(text, 'without welcome credits: an address of your mailbox has opened an account before')
  t.match(text, />Balance<strong>0</)
  for (const other of ['', '?no-credits=x', '?no-credits=toString'])
    t.notMatch((await alias.get(`/console/settings${other}`)).text, 'without welcome credits')
})

t.test('every page may load nothing from elsewhere, and is kept nowhere', async t => {
  const browser = await signedIn()
  for (const path of ['/console', '/console/settings', '/console/sign-in', '/console/sign-in/code']) {
    const { headers } = await browser.get(path)
    t.match(headers.get('Content-Security-Policy'), /^default-src 'none'; script-src 'self'; style-src 'self'; /)
    t.equal(headers.get('Cache-Control'), 'no-store')
    t.equal(headers.get('X-Content-Type-Options'), 'nosniff')
  }
  const { text } = await browser.get('/console/settings')
  const style = await browser.get(/<link rel="stylesheet" href="([^"]+)"/.exec(text)?.[1] ?? '')
  t.match(style, { status: 200 })
  t.notMatch(style.text, /url\((?!\/console\/)|@import/)
  for (const [, path = ''] of style.text.matchAll(/url\(([^)]+)\)/g)) {
    const { status, headers } = await browser.get(path)
    t.match([status, headers.get('Content-Type')], [200, 'font/woff2'])
  }
})

t.test('clients whose proxy names ports have room of their own for codes, and unknown ones share theirs', async t => {
  // So few codes that the minutes of the test bring no room for another one.
  const few = await startService(t, { environment: { ...environment, SIGN_IN_CODES_PER_MINUTE: '1' } })
  const ask = async (forwarded: string) => {
    const email = `${crypto.randomUUID()}@example.com`
    const headers = { 'X-Forwarded-For': forwarded }
    return (await new BrowserClient(few.url).post('/console/sign-in', { email }, headers)).location
  }
  t.equal(await ask('203.0.113.7:1'), ENTER_CODE)
  t.equal(await ask('203.0.113.7:2'), BUSY, 'the same client')
  t.equal(await ask('203.0.113.8:21'), BUSY, 'the same network')
  t.equal(await ask('203.0.112.8:21'), ENTER_CODE)
  t.equal(await ask('unknown'), ENTER_CODE)
  t.equal(await ask('_hidden'), BUSY)
  t.equal(await ask(''), BUSY)
})

t.test('while many sign in, the page says who gets a code, and does not tell whether that is you', async t => {
  const busy = await startService(t, { environment: { ...environment, SIGN_IN_CODES_PER_MINUTE: '1' } })
  const owner = new BrowserClient(busy.url)
  await owner.signIn(busy, 'ada@example.com')
  await owner.post('/console/sign-out')
  t.same(
    [...owner.cookies.keys()].sort(),
    ['tollgate-browser', 'tollgate-form'],
    'the browser is known after it has signed out',
  )
  t.equal((await owner.get('/console/settings')).status, 303, 'which gives no access')
  for (let count = 0; count < 10; count++)
    await new BrowserClient(busy.url).post('/console/sign-in', { email: `new-${count}@example.com` })
  const answerTo = async (email: string) => {
    const browser = new BrowserClient(busy.url)
    const { status, location } = await browser.post('/console/sign-in', { email })
    const { text } = await browser.get(location ?? '')
    return { status, location, text: text.replaceAll(email, 'EMAIL').replace(/ name="form_token" value="[^"]+"/, '') }
  }
  const answer = await answerTo('ada@example.com')
  t.match(answer, { status: 303, location: BUSY, text: /If you have signed in before, a code is on its way/ })
  t.same(await answerTo('eve@example.com'), answer)
  t.equal((await owner.post('/console/sign-in', { email: 'ada@example.com' })).location, ENTER_CODE)
})

t.test('cookies are hidden from scripts, and secure at a public HTTPS address', async t => {
  const secure = await startService(t, { environment: { PUBLIC_URL: 'https://tollgate.example.com' } })
  const browser = new BrowserClient(`http://127.0.0.1:${secure.port}`)
  const { headers } = await browser.post('/console/sign-in', { email: 'ada@example.com' })
  t.match(
    headers.getSetCookie()[0],
    /^__Host-tollgate-sign-in=[^;]+; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/,
  )
  await browser.signIn(secure, 'bob@example.com')
  const names = ['browser', 'form', 'session']
  t.same(
    [...browser.cookies.keys()].sort(),
    names.map(name => `__Host-tollgate-${name}`),
  )
  const plain = await signedIn()
  t.same(
    [...plain.cookies.keys()].sort(),
    names.map(name => `tollgate-${name}`),
  )
})

t.test('known and unknown addresses get the same answer', async t => {
  const closed = await startService(t, { folder: await temporaryFolder(t), environment: { REGISTRATION: 'closed' } })
  await closed.core.services.accounts.open(operator, {
    email: 'known-1@example.com',
    tester: false,
    welcomeMicros: 0,
  })
  const answerTo = async (email: string) => {
    const browser = new BrowserClient(closed.url)
    const asked = await browser.post('/console/sign-in', { email })
    const page = await browser.get('/console/sign-in/code')
    const wrong = await browser.post('/console/sign-in/code', { code: 'BBBB-BBBB' })
    const plain = ({ status, headers, text }: typeof asked) => ({
      status,
      text: text.replaceAll(email, 'EMAIL').replaceAll(/ name="form_token" value="[^"]+"/g, ''),
      headers: [...headers]
        .filter(([name]) => !['date', 'x-request-id'].includes(name))
        .map(([name, value]) => [
          name,
          name === 'set-cookie' ? value.replace(/=[^;]*;/, '').replace(/expires=[^;]*/, '') : value,
        ]),
    })
    return [asked, page, wrong].map(plain)
  }
  t.same(await answerTo('other-1@example.com'), await answerTo('known-1@example.com'))
  await until('the code arrives', async () => (await messagesIn(closed)).length === 1)
  t.match((await messagesIn(closed))[0], 'To: known-1@example.com')
})

t.test('the id of a session that somebody planted is worth nothing after signing in', async t => {
  const [attacker, victim] = [await signedIn(), new BrowserClient(service.url)]
  const planted = attacker.cookies.get('tollgate-session') as string
  victim.cookies.set('tollgate-session', planted)
  await victim.signIn(service, 'victim@example.com')
  t.not(victim.cookies.get('tollgate-session'), planted)
  t.equal((await attacker.get('/console/settings')).status, 303, 'the planted session has ended')
  const copy = new BrowserClient(service.url)
  copy.cookies.set('tollgate-session', `${victim.cookies.get('tollgate-session')?.slice(0, -3)}AAA`)
  t.equal((await copy.get('/console/settings')).status, 303)
  t.equal((await copy.get('/v1/balance')).status, 401)
})

t.test('a form without the token of this browser is refused, signed in or not', async t => {
  const [owner, other, stranger] = [await signedIn(), await signedIn(), new BrowserClient(service.url)]
  const tokenOf = async (browser: BrowserClient, path: string) =>
    / name="form_token" value="([^"]+)"/.exec((await browser.get(path)).text)?.[1] ?? ''
  const wrong = ['', 'x', await tokenOf(other, '/console/settings'), `${await tokenOf(owner, '/console/settings')}x`]
  for (const form_token of wrong) {
    for (const path of ['keys', 'identities', 'sign-out', 'sign-out-everywhere'])
      t.match(await owner.post(`/console/${path}`, { form_token }), { status: 403, text: /no longer valid/ }, path)
    t.equal((await stranger.post('/console/sign-in', { email: 'eve@example.com', form_token })).status, 403)
  }
  t.equal((await owner.get('/console/settings')).status, 200, 'still signed in')
  const token = await tokenOf(stranger, '/console/sign-in')
  t.equal((await stranger.post('/console/sign-in', { email: 'eve@example.com', form_token: token })).status, 303)
})

t.test('a form of another site is refused, whatever it sends', async t => {
  const browser = await signedIn()
  const foreign: Record<string, string>[] = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: service.url, 'Sec-Fetch-Site': 'cross-site' },
  ]
  for (const headers of foreign)
    for (const path of ['sign-in', 'sign-in/code', 'sign-out', 'sign-out-everywhere']) {
      const { status, text } = await browser.post(`/console/${path}`, { email: 'eve@example.com', code: 'x' }, headers)
      t.equal(status, 403, `${path} ${JSON.stringify(headers)}`)
      t.match(text, 'comes from another site')
    }
  t.equal((await browser.get('/console/settings')).status, 200, 'still signed in')
  t.equal(
    (await browser.get('/console/settings', { 'Sec-Fetch-Site': 'cross-site' })).status,
    200,
    'a link may lead here',
  )
  t.equal((await browser.post('/console/sign-out', {}, { Origin: service.url })).status, 303)
})

t.test('a form cannot call the API with a session, wherever it is', async t => {
  const browser = await signedIn()
  const post = (path: string, type: string, body = '') =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { 'Content-Type': type, 'Sec-Fetch-Site': 'same-origin', Cookie: cookiesOf(browser) },
      body,
    })
  for (const type of ['application/x-www-form-urlencoded', 'text/plain'])
    for (const path of ['/v1/webhooks/secret/rotate', '/v1/run', '/v1/uploads', '/v1/runs/run_x/cancel'])
      t.match(await (await post(path, type)).json(), { error: { code: 'unsupported_media_type' } }, `${path} ${type}`)
  t.equal((await post('/v1/webhooks/secret/rotate', 'application/json')).status, 200)
})

t.test('no answer is active content, or shows in a frame', async t => {
  const browser = await signedIn()
  const paths = ['/', '/docs', '/docs/nope', '/console/keys', '/console/nope', '/console/assets/mark.svg', '/nope']
  const others = [
    '/v1/balance',
    '/v1/nope',
    '/v1/runs',
    '/v1/ledger/export?format=csv',
    '/llms.txt',
    '/healthz',
    '/cdn/a/b',
  ]
  for (const client of [browser, new BrowserClient(service.url)])
    for (const path of [...paths, ...others]) {
      const { headers } = await client.get(path)
      t.match(headers.get('Content-Security-Policy'), /^default-src 'none';.* frame-ancestors 'none'$/, path)
      t.equal(headers.get('X-Content-Type-Options'), 'nosniff', path)
    }
})

t.test('signing out ends this session, and signing out everywhere all of them', async t => {
  const email = 'many@example.com'
  const browsers = [await signedIn(email), await signedIn(email), await signedIn(email)] as const
  const [first, second, third] = browsers
  const kept = new Map(first.cookies)
  t.match(await first.post('/console/sign-out'), { status: 303, location: '/console/sign-in' })
  t.notOk(first.cookies.has('tollgate-session'))
  for (const [name, value] of kept) first.cookies.set(name, value)
  t.equal((await first.get('/v1/balance')).status, 401, 'a kept cookie is worth nothing')
  t.equal((await second.get('/console/settings')).status, 200)
  await second.post('/console/sign-out-everywhere')
  t.equal((await third.get('/console/settings')).status, 303)
})

t.test('signing out everywhere works within a second in another process', async t => {
  const other = await startService(t, { folder })
  const email = 'two@example.com'
  const [here, there] = [await signedIn(email), new BrowserClient(other.url)]
  there.cookies.set('tollgate-session', here.cookies.get('tollgate-session') as string)
  t.equal((await there.get('/console/settings')).status, 200, 'a session of one process works in another at once')
  await here.post('/console/sign-out-everywhere')
  await until('the other process knows', async () => (await there.get('/console/settings')).status === 303, {
    maxWaitMs: 1500,
  })
  t.equal((await there.get('/v1/balance')).status, 401)
})

t.test('people sign out while their account is suspended', async t => {
  const { accounts } = service.core.services
  for (const path of ['sign-out', 'sign-out-everywhere']) {
    const browser = await signedIn(`${path}@example.com`)
    const copy = new BrowserClient(service.url)
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    const { account } = unwrap(await accounts.findByEmail(operator, `${path}@example.com`))
    const { accountId } = account
    unwrap(await accounts.suspend(operator, accountId, 'abuse'))
    t.equal((await browser.post(`/console/${path}`, {}, { 'Sec-Fetch-Site': 'cross-site' })).status, 403)
    t.match(await browser.post(`/console/${path}`), { status: 303, location: '/console/sign-in' })
    unwrap(await accounts.resume(operator, accountId, 'settled'))
    t.equal((await copy.get('/v1/balance')).status, 401, 'the session has ended')
  }
})

t.test('the oldest of too many sessions is signed out', async t => {
  const tokens = []
  const email = 'crowd@example.com'
  const browser = await signedIn(email)
  tokens.push(browser.cookies.get('tollgate-session'))
  const [accountId] = (tokens[0] as string).split('.')
  const state = await service.core.accounts.state(accountId as never)
  t.equal(state.sessions.size, 1)
  for (let index = 0; index < MAX_SESSIONS; index++)
    await service.core.accounts.execute({ kind: 'service' }, accountId as never, {
      type: 'OpenSession',
      sessionId: `sess_${String(index + 1).padStart(26, '0')}`,
      expiresAt: '2099-01-01T00:00:00.000Z',
    })
  t.equal((await service.core.accounts.state(accountId as never)).sessions.size, MAX_SESSIONS)
  t.equal((await browser.get('/console/settings')).status, 303, 'the first one has ended')
})

t.test('faults of a form are shown in it, and are JSON for those who ask', async t => {
  const browser = new BrowserClient(service.url)
  const wrong = await browser.post('/console/sign-in', { email: '<script>alert(1)</script>' })
  t.equal(wrong.status, 400)
  t.match(wrong.text, /role="alert">.*is not an e-mail address/)
  t.notMatch(wrong.text, '<script>alert', 'what was typed is escaped')
  const json = await browser.post('/console/sign-in', { email: 'x' }, { Accept: 'application/json' })
  t.match(JSON.parse(json.text), { error: { code: 'invalid_request', message: '"x" is not an e-mail address' } })
  const large = await browser.post('/console/sign-in', { email: 'x'.repeat(10_000) })
  t.equal(large.status, 413)
  const unasked = { status: 400, text: /This browser has requested no code/ }
  t.match(await browser.post('/console/sign-in/code', { code: 'BBBB-BBBB' }), unasked)
  const unaskedJson = await browser.post('/console/sign-in/code', { code: 'x' }, { Accept: 'application/json' })
  t.match(JSON.parse(unaskedJson.text), { error: { code: 'invalid_request' } })
  const other = await fetch(`${service.url}/console/sign-in`, { method: 'POST', body: '{}' })
  t.equal(other.status, 400)
})

t.test('a wrong address is a page for people, and JSON for those who ask', async t => {
  const browser = new BrowserClient(service.url)
  for (const path of ['/console/', '/console/nowhere', '/console/sign-out'])
    t.match(await browser.get(path), { status: 404, text: /<h1>There is no such page.*href="\/docs"/s }, path)
  const { text } = await (await signedIn()).get('/console/nowhere')
  t.match(text, /<nav class="side".*<h1>There is no such page<\/h1>.*href="\/console\/search"/s, 'the frame stays')
  t.notMatch(text, 'role="alert"')
  const json = await browser.get('/console/nowhere', { Accept: 'application/json' })
  t.match(JSON.parse(json.text), { error: { code: 'not_found', message: 'There is no such page.' } })
})

t.test('an address that no route has is a page for a browser, and JSON for programs', async t => {
  const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const ask = (path: string, init?: RequestInit) => fetch(service.url + path, init)
  const shown = await ask('/nonsense', { headers: html })
  t.equal(shown.status, 404)
  t.match(shown.headers.get('Content-Security-Policy'), /default-src 'none'/)
  t.match(await shown.text(), /<h1>There is no such page.*href="\/console\/sign-in".*href="\/docs"/s)
  const head = await ask('/nonsense', { method: 'HEAD', headers: html })
  t.match([head.status, head.headers.get('Content-Type')], [404, shown.headers.get('Content-Type')])
  t.match((await (await signedIn()).get('/nonsense', html)).text, /<nav class="side".*<h1>There is no such page/s)
  for (const [path, init, status] of [
    ['/nonsense', {}, 404],
    ['/nonsense', { headers: { Accept: '*/*' } }, 404],
    ['/nonsense', { method: 'POST', headers: html }, 404],
    ['/v1/nonsense', { headers: html }, 404],
    ['/v1/run', { headers: html }, 405],
  ] as const) {
    const answer = await ask(path, init)
    t.equal(answer.status, status, path)
    t.match(answer.headers.get('Content-Type'), 'application/json')
  }
})

t.test('the avatar opens a menu without a script', async t => {
  const { text } = await (await signedIn()).get('/console/keys')
  t.match(text, /<button type="button" class="avatar" popovertarget="account"/)
  const [, menu = ''] = /id="account" popover="auto">(.*?)<\/div>/s.exec(text) ?? []
  for (const part of [
    '@example.com',
    'href="/console/settings"',
    'action="/console/mode"',
    'action="/console/sign-out"',
  ])
    t.match(menu, part)
})

t.test('an address that asks too often learns when to try again', async t => {
  const browser = new BrowserClient(service.url)
  for (let count = 0; count < 5; count++)
    t.equal((await browser.post('/console/sign-in', { email: 'often@example.com' })).status, 303)
  const { status, headers, text } = await browser.post('/console/sign-in', { email: 'often@example.com' })
  t.equal(status, 429)
  t.ok(Number(headers.get('Retry-After')) > 3000)
  t.match(text, 'Too many codes were requested for this address. Try again in 60 minutes.')
})

t.test('with a key, the cookie does not count', async t => {
  const browser = await signedIn()
  t.equal((await browser.get('/v1/balance', { Authorization: 'Bearer tg_sk_live_wrong' })).status, 401)
})

t.test('after a second request, the code of the first message still works, and a third one ends it', async t => {
  const own = await startService(t)
  const received = async (count: number) => {
    const messages = await messagesIn(own)
    return messages.length === count && messages.map(codeIn)
  }
  const requestCodes = async (browser: BrowserClient, count: number) => {
    for (let number = 1; number <= count; number++) {
      const before = (await messagesIn(own)).length
      await browser.post('/console/sign-in', { email: 'ada@example.com' })
      await until('the message', () => received(before + 1))
    }
  }
  const browser = new BrowserClient(own.url)
  await requestCodes(browser, 3)
  const [first = '', second = '', third = ''] = (await received(3)) || []
  const enter = (code = '') => browser.post('/console/sign-in/code', { code })
  t.match(
    (await enter(first)).text,
    'This is neither of the last two codes that this browser requested. You have 4 more',
  )
  t.match(await enter(second), { status: 303, location: '/console' })
  await browser.post('/console/sign-out')
  t.match((await enter(third)).text, 'This browser has requested no code', 'both are forgotten')
  await requestCodes(browser, 1)
  t.match((await enter('BBBB-BBBB')).text, 'This is not the code that this browser requested. You have 4 more tries.')
})

t.test('emptied views change neither the tries nor the sessions', async t => {
  const own = await startService(t)
  const browser = new BrowserClient(own.url)
  await browser.signIn(own, 'ada@example.com')
  const trier = new BrowserClient(own.url)
  await trier.post('/console/sign-in', { email: 'bob@example.com' })
  for (let count = 0; count < 5; count++) await trier.post('/console/sign-in/code', { code: 'BBBB-BBBB' })
  await own.core.services.views.rebuild(operator)
  t.match((await trier.post('/console/sign-in/code', { code: 'BBBB-BBBB' })).text, 'tried too often')
  t.equal((await browser.get('/console/settings')).status, 200)
})

t.test('an owner adds an address, which then signs in to the same account', async t => {
  const browser = await signedIn('owner@example.com')
  t.match((await browser.get('/console/identities')).text, 'Add a way to sign in')
  const email = 'second@example.com'
  t.equal((await browser.post('/console/identities', { email })).location, '/console/identities/code')
  const find = async () => codeIn((await messagesIn(service)).find(message => message.includes(`To: ${email}`)))
  const code = await until('the code arrives', find)
  t.equal((await browser.post('/console/identities/code', { code: 'BBBB-BBBB' })).status, 400)
  t.equal((await browser.post('/console/identities/code', { code })).location, '/console/settings')
  t.match(
    (await browser.get('/console/settings')).text,
    /<li[^>]*>owner@example.com<\/li><li[^>]*>second@example.com<\/li>/,
  )
  const second = await signedIn(email)
  t.match((await second.get('/console/settings')).text, /Signed in as <strong[^>]*>owner@example.com/)
  const forged = await browser.post('/console/identities', { email }, { 'Sec-Fetch-Site': 'cross-site' })
  t.equal(forged.status, 403)
  const stranger = new BrowserClient(service.url)
  for (const path of ['/console/identities', '/console/identities/code'])
    t.equal((await stranger.post(path, { email, code: 'x' })).location, '/console/sign-in')
})

t.test('every place of the navigation has a page', async t => {
  const browser = await signedIn()
  const { text } = await browser.get('/console/more')
  const places = new Set([...text.matchAll(/<a [^>]*href="(\/[^"#]*)"/g)].map(([, path = '']) => path))
  t.ok(places.has('/console/webhooks') && places.has('/console/more'))
  for (const path of places) {
    const { status, location } = await browser.get(path)
    t.ok(status === 200 || (status === 303 && location !== '/console/sign-in'), `${path} is ${status}`)
  }
  t.equal((await new BrowserClient(service.url).get('/console/more')).location, '/console/sign-in')
})

/** What a page may load of scripts and style, compressed. */
const MAX_ASSET_BYTES = 60_000

t.test('no page loads more than 60 KB of scripts and style', async t => {
  const browser = await signedIn()
  const loaded = new Map<string, { bytes: number; imports: string[] }>()
  const load = async (path: string) => {
    const text = await (await fetch(new URL(path, service.url))).text()
    const imports = [...text.matchAll(/ from '\.\/([\w-]+\.js)'/g)].map(([, name]) => `/console/assets/${name}`)
    return { bytes: gzipSync(text).length, imports }
  }
  for (const path of ['/', '/docs', '/console/playground', '/console/runs', '/console/credits', '/console/keys']) {
    const asked = [...(await browser.get(path)).text.matchAll(/="(\/console\/assets\/[\w-]+\.(?:css|js))\?/g)]
    const files = asked.map(([, file = '']) => file)
    // The list grows while it is read.
    for (const file of files) {
      const { imports } = loaded.get(file) ?? loaded.set(file, await load(file)).get(file) ?? { imports: [] }
      files.push(...imports.filter(each => !files.includes(each)))
    }
    const bytes = [...new Set(files)].reduce((sum, file) => sum + (loaded.get(file)?.bytes ?? 0), 0)
    t.ok(bytes > 20_000 && bytes < MAX_ASSET_BYTES, `${path} loads ${bytes} bytes`)
  }
})
