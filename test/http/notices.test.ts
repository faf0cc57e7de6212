import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { NoticeSettings } from '../../schemas/api/notice.ts'
import { accountStream } from '../../schemas/events.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { collect } from '../support/collect.ts'
import { type Customer, openAccount, openKey, startService } from '../support/service.ts'

const service = await startService(t)
const { core } = service
const owner = await openAccount(service)

const get = (client: Customer) => client.send<NoticeSettings & ErrorBody>('/v1/notices')
const put = (body: object, client = owner) =>
  client.send<NoticeSettings & ErrorBody>('/v1/notices', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

const link = (address: string) =>
  core.accounts.execute({ kind: 'service' }, owner.accountId, {
    type: 'LinkIdentity',
    identity: { kind: 'email', address },
  })

t.test('settings are replaced, and what is missing gets its default', async t => {
  t.match(await get(owner), {
    status: 200,
    body: { object: 'notice_settings', email: false, balance_under_credits: 0 },
  })
  const url = 'https://example.com/hooks'
  const set = await put({ url, balance_under_credits: 12.5 })
  t.equal(set.status, 200)
  t.match(set.body, { email: true, email_address: /@example\.com$/, url, balance_under_credits: 12.5 })
  t.same((await get(owner)).body, set.body)
  t.same((await put({ email: false })).body, {
    object: 'notice_settings',
    ...{ email: false, email_address: set.body.email_address, balance_under_credits: 10 },
  })
})

t.test('mail goes to an address that is linked to the account, and to no other', async t => {
  await link('other@example.com')
  t.match((await put({ email_address: 'Other@Example.com' })).body, { email: true, email_address: 'other@example.com' })
  t.match((await get(owner)).body, { email_address: 'other@example.com' })
  for (const email_address of ['mallory@example.com', 'nobody', ''])
    t.match(await put({ email_address }), {
      status: 400,
      body: { error: { code: 'invalid_request', errors: [{ path: '/email_address' }] } },
    })
  t.match((await get(owner)).body, { email_address: 'other@example.com' })
  const events = await collect(core.log.readStream(accountStream(owner.accountId), 0))
  const set = events.filter(({ type }) => type === 'NoticesSet')
  t.equal(set.length, 3)
  t.notMatch(JSON.stringify(set), /@/, 'the events repeat no address')
})

t.test('bad settings are refused with the place of the fault', async t => {
  for (const [body, path] of [
    [{ url: 'ftp://example.com' }, '/url'],
    [{ url: 'https://user@example.com' }, '/url'],
    [{ url: 'http://10.0.0.1/' }, '/url'],
    [{ url: 'http://localhost:9200/' }, '/url'],
    [{ balance_under_credits: -1 }, '/balance_under_credits'],
    [{ balance_under_credits: 0.00000001 }, '/balance_under_credits'],
    [{ email: 'yes' }, '/email'],
    [{ threshold: 3 }, '/threshold'],
  ] as const)
    t.match(await put(body), { status: 400, body: { error: { errors: [{ path }] } } }, JSON.stringify(body))
})

t.test('a full key or a session may set notices, and no other key', async t => {
  t.equal((await service.client().send('/v1/notices')).status, 401)
  for (const scope of ['read', 'keys'] as const) {
    const key = await openKey(service, owner, { scope })
    t.match(await put({}, key), { status: 403, body: { error: { code: 'forbidden' } } }, scope)
    t.match(await get(key), { status: 403, body: { error: { code: 'forbidden' } } }, scope)
  }
  const browser = new BrowserClient(service.url)
  await browser.signIn(service, 'ada@example.com')
  const shown = await browser.get('/v1/notices')
  t.match(JSON.parse(shown.text), { email: true, email_address: 'ada@example.com', balance_under_credits: 10 })
})
