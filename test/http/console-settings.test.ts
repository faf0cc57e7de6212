import t from 'tap'
import { FRESH_MS } from '../../src/domain/account/access.ts'
import { codeIn, messagesIn, signedInAt } from '../support/browser-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const clock = new ManualClock()
const service = await startService(t, { clock, environment: { TRUSTED_PROXIES: '127.0.0.1' } })

const signedIn = (email: string) => signedInAt(service, email)

const messagesTo = async (email: string) =>
  (await messagesIn(service)).filter(message => message.includes(`To: ${email}\r\n`))

/** Does something that sends a code, and returns the code. */
const codeFrom = async (email: string, action: () => Promise<unknown>) => {
  const before = (await messagesTo(email)).length
  await action()
  return until('the code arrives', async () => codeIn((await messagesTo(email))[before]))
}

const endPaths = (html: string) =>
  [...html.matchAll(/action="(\/console\/sessions\/sess_\w+\/end)"/g)].map(([, p = '']) => p)

t.test('an owner sees the sessions of the account, and ends the others', async t => {
  const email = 'ada@example.com'
  const [first, second, third] = [await signedIn(email), await signedIn(email), await signedIn(email)] as const
  const { text } = await first.get('/console/settings')
  t.equal(text.match(/this one/g)?.length, 1)
  t.match(text, /<td class="mono muted">10\.\d+\.\d+\.0\/24</)
  const [newest = '', ...rest] = endPaths(text)
  t.equal(rest.length, 1, 'the own session has no button')
  t.match(await first.post(newest), { status: 303, location: '/console/settings#sessions' })
  t.equal((await third.get('/v1/balance')).status, 401)
  t.equal((await second.get('/v1/balance')).status, 200)
  t.equal((await first.post(newest)).status, 303, 'it has ended before')
  t.equal((await first.post('/console/sessions/end-others')).status, 303)
  t.equal((await second.get('/v1/balance')).status, 401)
  t.equal((await first.get('/v1/balance')).status, 200)
  const stranger = await signedIn('eve@example.com')
  const [own = ''] = endPaths((await (await signedIn(email)).get('/console/settings')).text)
  await stranger.post(own)
  t.equal((await first.get('/v1/balance')).status, 200, 'nobody ends a session of another account')
})

t.test('what changes who may use an account asks for a fresh code, and then comes back', async t => {
  const email = 'grace@example.com'
  const [browser, other] = [await signedIn(email), await signedIn(email)]
  clock.advance(FRESH_MS)
  const referer = { Referer: `${service.url}/console/settings` }
  const confirm = '/console/confirm?back=%2Fconsole%2Fsettings'
  for (const path of ['/console/sessions/end-others', '/console/sign-out-everywhere', '/console/identities'])
    t.match(await browser.post(path, { email: 'x@example.com' }, referer), { status: 303, location: confirm }, path)
  t.match(await browser.get('/console/identities'), { location: '/console/confirm?back=%2Fconsole%2Fidentities' })
  const json = await browser.post('/console/sessions/end-others', {}, { Accept: 'application/json' })
  t.match([json.status, json.text], [403, /a code that you entered within the last hour/])
  t.equal((await other.get('/v1/balance')).status, 200, 'nothing has ended')
  t.equal((await browser.post('/console/keys', { name: 'website' })).status, 200, 'the rest needs none')

  t.match((await browser.get(confirm)).text, 'Confirm that it is you')
  const code = await codeFrom(email, async () => {
    const asked = await browser.post('/console/confirm', { back: '/console/identities' })
    t.equal(asked.location, '/console/confirm/code?back=%2Fconsole%2Fidentities')
    t.match((await browser.get(asked.location ?? '')).text, email)
  })
  const wrong = await browser.post('/console/confirm/code', { code: 'BBBB-BBBB', back: '/console/identities' })
  t.match([wrong.status, wrong.text], [400, /This is not the code/])
  t.match(wrong.text, 'name="back" value="/console/identities"')
  const entered = await browser.post('/console/confirm/code', { code, back: '/console/identities' })
  t.match(entered, { status: 303, location: '/console/identities' })
  t.equal((await browser.get('/console/identities')).status, 200)

  const added = 'hopper@example.com'
  const linking = await codeFrom(added, () => browser.post('/console/identities', { email: added }))
  t.equal((await browser.post('/console/identities/code', { code: linking })).location, '/console/settings')
  await until('the first address is told', async () =>
    (await messagesTo(email)).some(message => /was added/.test(message) && message.includes(added)),
  )
  t.equal((await browser.post('/console/sessions/end-others')).location, '/console/settings#sessions')
  t.equal((await other.get('/v1/balance')).status, 401)
  await until('the second address is told', async () =>
    (await messagesTo(added)).some(message => /sessions\r?\nof it/.test(message)),
  )
  t.equal((await messagesTo(email)).filter(message => /has ended other sessions/.test(message)).length, 0)
})

t.test('the page for a code comes back only to pages of the console', async t => {
  const browser = await signedIn('alan@example.com')
  for (const back of [
    'https://evil.example/',
    '//evil.example/console/x',
    '/\\evil.example/console/',
    'javascript:alert(1)',
  ]) {
    const { text } = await browser.get(`/console/confirm?back=${encodeURIComponent(back)}`)
    t.match(text, 'name="back" value="/console/settings"', back)
    t.notMatch(text, 'evil')
  }
  clock.advance(FRESH_MS)
  const { location } = await browser.post('/console/sessions/end-others', {}, { Referer: 'https://evil.example/evil' })
  t.equal(location, '/console/confirm?back=%2Fconsole%2Fsettings')
})

t.test('the settings show limits, and change notices with faults at their fields', async t => {
  const browser = await signedIn('barbara@example.com')
  t.match((await browser.get('/console/settings')).text, /Requests a minute<\/td><td class="num">6,000</)
  const fields = { email: 'on', address: 'barbara@example.com', url: 'https://example.com/hook', balance_under: '25.5' }
  const saved = await browser.post('/console/settings/notices', fields)
  t.match(saved, { status: 303, location: '/console/settings?saved#notices' })
  t.match(await browser.send('GET', '/v1/notices'), {
    body: { email: true, url: 'https://example.com/hook', balance_under_credits: 25.5 },
  })
  for (const [change, id] of [
    [{ url: 'ftp://example.com' }, 'url'],
    [{ url: 'http://127.0.0.1/' }, 'url'],
    [{ balance_under: 'few' }, 'balance-under'],
    [{ balance_under: '0.1234567' }, 'balance-under'],
  ] as const) {
    const { status, text } = await browser.post('/console/settings/notices', { ...fields, ...change })
    t.match([status, text], [400, new RegExp(`id="${id}-fault"`)], JSON.stringify(change))
  }
  const unlinked = await browser.post('/console/settings/notices', { ...fields, address: 'eve@example.com' })
  t.match([unlinked.status, unlinked.text], [400, /role="alert"/])
  await browser.post('/console/settings/notices', { balance_under: '0' })
  const { body } = await browser.send<Record<string, unknown>>('GET', '/v1/notices')
  t.match(body, { email: false, balance_under_credits: 0 })
  t.notOk('url' in body)
})
