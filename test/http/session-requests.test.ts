import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { ModelList } from '../../schemas/api/model.ts'
import type { Run, RunList } from '../../schemas/api/run.ts'
import type { UsageList } from '../../schemas/api/usage.ts'
import { isForAccounts } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { picture } from '../support/client.ts'
import { instantProvider, startService } from '../support/service.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const browser = new BrowserClient(service.url)
await browser.signIn(service, 'ada@example.com')
const stranger = new BrowserClient(service.url)

/** The operations that a key of an account may send. */
const keyed = routes.filter(isForAccounts)
const onlyKeys = ['callMcp', 'getOwnKey']

t.test('somebody who is signed in reads the reference, runs models and sees them', async t => {
  for (const path of ['/v1/openapi.json', '/llms.txt', '/.well-known/mcp']) {
    const { status, headers } = await browser.get(path)
    t.equal(status, 200, path)
    t.match(headers.get('Vary'), /Authorization, Cookie/, 'no cache shows it after signing out')
    t.equal(headers.get('Cache-Control'), 'private, no-store', path)
    t.equal((await stranger.get(path)).status, 401)
  }
  t.ok((await browser.send<ModelList>('GET', '/v1/models')).body.data.length > 30)
  const { status, body } = await browser.send<Run>('POST', '/v1/run', picture)
  t.match([status, body], [200, { status: 'completed', credits_charged: 10 }])
  t.match((await browser.send<RunList>('GET', '/v1/runs')).body.data, [{ run_id: body.run_id }])
  t.match((await browser.send<UsageList>('GET', '/v1/usage?group_by=key')).body.data, [{ key_id: null, credits: 10 }])
  t.match(await browser.send('GET', '/v1/balance'), { body: { credits_balance: 90 } })
})

t.test('no cache keeps an error that somebody who is signed in gets', async t => {
  for (const [method, path, status] of [
    ['GET', '/v1/nothing', 404],
    ['GET', '/v1/runs/run_00000000000000000000000000', 404],
    ['PATCH', '/v1/balance', 405],
    ['GET', '/v1/key', 401],
  ] as const) {
    const answer = await browser.send(method, path)
    t.match([answer.status, answer.headers.get('Cache-Control')], [status, 'private, no-store'], path)
  }
})

t.test('a session is no key: nothing that only keys may send takes it', async t => {
  for (const [method, path] of [
    ['POST', '/mcp'],
    ['GET', '/v1/key'],
  ] as const)
    t.equal((await browser.send(method, path, method === 'POST' ? {} : undefined)).status, 401, path)
})

t.test('a page of another site changes nothing with any request', async t => {
  const changes = keyed.filter(({ id, method }) => method !== 'get' && !onlyKeys.includes(id))
  t.ok(changes.length > 8)
  const head = await service.core.log.head()
  for (const { method, path } of changes)
    for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }]) {
      const address = path.replaceAll(/:\w+/g, 'x')
      const sent = await browser.send<ErrorBody>(method.toUpperCase(), address, {}, headers as never)
      t.match([sent.status, sent.body.error.message], [403, /comes from another site/], `${method} ${address}`)
    }
  t.equal(await service.core.log.head(), head)
})
