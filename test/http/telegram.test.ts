import t from 'tap'
import { accountStream, loginStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import { DEFAULT_NOTICES } from '../../src/domain/account/notices.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { collect } from '../support/collect.ts'
import { CLIENT_ID, CLIENT_SECRET, startIssuer, type TokenChange } from '../support/issuer.ts'
import { startService } from '../support/service.ts'
import { verified } from '../support/verified.ts'

const issuer = await startIssuer(t)
const environment = {
  TRUSTED_PROXIES: '127.0.0.1',
  TELEGRAM_CLIENT_ID: CLIENT_ID,
  TELEGRAM_CLIENT_SECRET: CLIENT_SECRET,
  TELEGRAM_ISSUER: issuer.url,
}
const service = await startService(t, { environment })

const BEGIN = '/console/sign-in/telegram'
const pathOf = ({ pathname, search }: URL) => pathname + search
let subjects = 1000

/** Sends a new browser to Telegram and back. */
const cameBack = async ({
  subject = `${++subjects}`,
  change = {} as TokenChange,
  browser = new BrowserClient(service.url),
} = {}) => {
  const { location } = await browser.get(BEGIN)
  const back = issuer.consent(location ?? '', subject, change)
  return { browser, back, reply: await browser.get(pathOf(back)) }
}

const accountOf = (browser: BrowserClient) => browser.cookies.get('tollgate-session')?.split('.')[0] as AccountId

t.test('Telegram is offered only if it is configured', async t => {
  const without = await startService(t)
  const browser = new BrowserClient(without.url)
  t.notMatch((await browser.get('/console/sign-in')).text, 'Telegram')
  t.equal((await browser.get(BEGIN)).status, 404)
  t.match((await new BrowserClient(service.url).get('/console/sign-in')).text, `href="${BEGIN}"`)
})

t.test('the request follows the documents: code flow with PKCE, state and nonce', async t => {
  const { location } = await new BrowserClient(service.url).get(BEGIN)
  const url = new URL(location ?? '')
  t.equal(url.origin + url.pathname, `${issuer.url}/auth`)
  t.match(Object.fromEntries(url.searchParams), {
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: `${service.url}/console/sign-in/telegram/return`,
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
  })
})

t.test('somebody from Telegram gets an account, and later signs in to it', async t => {
  const { browser, reply } = await cameBack({ subject: '17' })
  t.match(reply, { status: 303, location: '/console' })
  t.match((await browser.get('/console/settings')).text, /Telegram: Ada Lovelace/)
  const again = await cameBack({ subject: '17' })
  t.equal(accountOf(again.browser), accountOf(browser))
  t.not(again.browser.cookies.get('tollgate-session'), browser.cookies.get('tollgate-session'))
  const events = await collect(service.core.log.readStream(accountStream(accountOf(browser)), 0))
  t.same(events[0]?.data, {
    accountId: accountOf(browser),
    identity: { kind: 'telegram', subject: '17', name: 'Ada Lovelace' },
    tester: false,
    notices: DEFAULT_NOTICES,
  })
  t.equal(events.filter(({ type }) => type === 'CreditsGranted').length, 1)
  const login = loginStream(await service.core.logins.loginOf({ kind: 'telegram', subject: '17' }))
  t.same(
    (await collect(service.core.log.readStream(login, 0))).map(({ type }) => type),
    ['WelcomeDecided', 'LoginLinked'],
  )
})

t.test('a name keeps its emoji, and loses what hides', async t => {
  const { browser } = await cameBack({
    subject: '19',
    change: { claims: { name: ' Zoe\u0308\u202e\u0000 👩\u200d💻 ' } },
  })
  const [opened] = await collect(service.core.log.readStream(accountStream(accountOf(browser)), 0))
  t.match(opened?.data, { identity: { name: 'Zoë 👩\u200d💻' } })
})

t.test('fifty at once with one Telegram account get one account of ours', async t => {
  const all = await Promise.all(Array.from({ length: 50 }, () => cameBack({ subject: '18' })))
  t.equal(all.filter(({ reply }) => reply.location === '/console').length, 50)
  t.equal(new Set(all.map(({ browser }) => accountOf(browser))).size, 1)
  const first = all[0]?.browser as BrowserClient
  t.equal((await service.core.accounts.state(accountOf(first))).balanceMicros, 100_000_000)
})

const now = () => Math.floor(Date.now() / 1000)

const bad: Record<string, () => TokenChange> = {
  'of another key': () => ({ key: issuer.otherKey }),
  'of an unknown key': () => ({ header: { kid: 'oidc-9' } }),
  'without a signature': () => ({ header: { alg: 'none' } }),
  'that is expired': () => ({ claims: { iat: now() - 3600, exp: now() - 1800 } }),
  'of another issuer': () => ({ claims: { iss: 'https://oauth.telegram.org.example.com' } }),
  'for another client': () => ({ claims: { aud: '1' } }),
  'with another nonce': () => ({ claims: { nonce: 'x'.repeat(43) } }),
  'without a nonce': () => ({ claims: { nonce: undefined } }),
  'without a subject': () => ({ claims: { sub: undefined } }),
  'that was issued before': () => ({ token: issuer.issued.at(-1) as string }),
  'that is none': () => ({ token: 'x.y.z' }),
}

for (const [name, change] of Object.entries(bad))
  t.test(`a token ${name} does not sign in`, async t => {
    await cameBack()
    const head = await service.core.log.head()
    const { browser, reply } = await cameBack({ change: change() })
    t.equal(reply.status, 400)
    t.match(reply.text, 'Telegram did not confirm who you are')
    t.notOk(browser.cookies.has('tollgate-session'))
    t.equal(await service.core.log.head(), head, 'nothing happened')
  })

t.test('an answer with another state, or for another browser, does not sign in', async t => {
  const [attacker, victim] = [new BrowserClient(service.url), new BrowserClient(service.url)]
  const { location } = await attacker.get(BEGIN)
  const back = issuer.consent(location ?? '', '666')
  t.match(await victim.get(pathOf(back)), { status: 400, text: /has not begun/ })
  await victim.get(BEGIN)
  t.match(await victim.get(pathOf(back)), { status: 400, text: /did not confirm/ })
  t.notOk(victim.cookies.has('tollgate-session'))
  const own = new BrowserClient(service.url)
  const changed = issuer.consent((await own.get(BEGIN)).location ?? '', '666')
  changed.searchParams.set('state', 'x'.repeat(43))
  t.equal((await own.get(pathOf(changed))).status, 400)
})

t.test('an answer works once', async t => {
  const { browser, back, reply } = await cameBack()
  t.equal(reply.status, 303)
  const copy = new BrowserClient(service.url)
  t.equal((await browser.get(pathOf(back))).status, 400)
  await copy.get(BEGIN)
  t.equal((await copy.get(pathOf(back))).status, 400)
})

t.test('somebody who says no at Telegram can begin again', async t => {
  const browser = new BrowserClient(service.url)
  const { location } = await browser.get(BEGIN)
  const state = new URL(location ?? '').searchParams.get('state') ?? ''
  const reply = await browser.get(`/console/sign-in/telegram/return?error=access_denied&state=${state}`)
  t.match(reply, { status: 400, text: /Try again/ })
})

t.test('while Telegram is away, the page says so, and codes by mail still work', async t => {
  issuer.away(true)
  t.teardown(() => issuer.away(false))
  const fresh = await startService(t, { environment })
  const browser = new BrowserClient(fresh.url)
  t.equal((await browser.get(BEGIN)).status, 503)
  t.equal((await browser.post('/console/sign-in', { email: 'ada@example.com' })).status, 303)
  issuer.away(false)
  t.equal((await browser.get(BEGIN)).status, 303, 'it is asked again')
})

t.test('an owner links a Telegram account, which then signs in, and brings no credits', async t => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'grace@example.com')
  const account = accountOf(browser)
  const { location } = await browser.get('/console/identities/telegram')
  const back = issuer.consent(location ?? '', '99')
  t.equal((await browser.get(pathOf(back))).location, '/console/settings')
  t.match(
    (await browser.get('/console/settings')).text,
    /<li[^>]*>grace@example.com<\/li><li[^>]*>Telegram: Ada Lovelace<\/li>/,
  )
  const there = await cameBack({ subject: '99' })
  t.equal(accountOf(there.browser), account)
  t.equal((await service.core.accounts.state(account)).balanceMicros, 100_000_000)
  const other = await cameBack()
  const { location: again } = await other.browser.get('/console/identities/telegram')
  const taken = await other.browser.get(pathOf(issuer.consent(again ?? '', '99')))
  t.match(taken, { status: 400, text: /belongs to another account/ })
})

t.test('no other site can lead an owner to link a Telegram account', async t => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'led@example.com')
  for (const site of ['cross-site', 'same-site']) {
    const led = await browser.get('/console/identities/telegram', { 'Sec-Fetch-Site': site })
    t.match(led, { status: 403, text: /comes from another site/ })
  }
  t.notOk(browser.cookies.has('tollgate-telegram'))
  for (const site of ['same-origin', 'none'])
    t.equal((await browser.get('/console/identities/telegram', { 'Sec-Fetch-Site': site })).status, 303)
  t.equal((await browser.get(BEGIN, { 'Sec-Fetch-Site': 'cross-site' })).status, 303, 'anyone may sign in')
})

t.test('linking needs a session at its end too', async t => {
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'leaver@example.com')
  const { location } = await browser.get('/console/identities/telegram')
  await browser.post('/console/sign-out')
  t.equal((await browser.get(pathOf(issuer.consent(location ?? '', '100')))).status, 401)
  const login = loginStream(await service.core.logins.loginOf({ kind: 'telegram', subject: '100' }))
  t.same(await collect(service.core.log.readStream(login, 0)), [])
})

t.test('the log is whole, and holds no secret of the login', async t => {
  const events = await collect(service.core.log.readAll(BEFORE_FIRST))
  const { faults, notes } = await verified(events, { isDense: true })
  t.same([...faults, ...notes], [])
  const text = JSON.stringify(events)
  for (const secret of [CLIENT_SECRET, issuer.issued[0] as string]) t.notOk(text.includes(secret))
})
