import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { CreatedKey, KeyList } from '../../schemas/api/key.ts'
import { signedInAt } from '../support/browser-client.ts'
import { caughtUp } from '../support/caught-up.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'

const environment = { TRUSTED_PROXIES: '127.0.0.1' }
const service = await startService(t, { environment, providers: { sandbox: instantProvider } })

const signedIn = (email: string) => signedInAt(service, email)

const newKey = { name: 'website', budget: { credits: 10, period: 'day' } }

t.test('somebody registers, creates a key, uses it up, and revokes it', async t => {
  const browser = await signedIn('ada@example.com')
  const created = await browser.send<CreatedKey>('POST', '/v1/keys', newKey)
  t.match(created, { status: 200, body: { name: 'website', scope: 'full', budget: { credits_left: 10 } } })
  await caughtUp(service.core)

  const customer = service.client(created.body.api_key)
  t.equal((await customer.run(picture)).status, 200)
  t.match(await customer.run(picture), { status: 402, body: { error: { code: 'budget_exceeded' } } })
  const { body: listed } = await browser.send<KeyList>('GET', '/v1/keys')
  t.match(listed.data, [{ id: created.body.id, budget: { spent_credits: 10 } }])

  t.match(await browser.send('DELETE', `/v1/keys/${created.body.id}`), { status: 200, body: { revoked: true } })
  t.match(await customer.run(picture), { status: 401, body: { error: { code: 'invalid_api_key' } } })
})

t.test('a key works as soon as it is shown', async t => {
  const browser = await signedIn('barbara@example.com')
  for (let number = 1; number <= 20; number++) {
    const { body } = await browser.send<CreatedKey>('POST', '/v1/keys', { name: `key ${number}` })
    t.equal((await service.client(body.api_key).send('/v1/balance')).status, 200)
  }
})

t.test('an owner may create a key that manages keys, and manages no keys of others', async t => {
  const browser = await signedIn('grace@example.com')
  t.match(await browser.send('POST', '/v1/keys', { name: 'deployment', scope: 'keys' }), { body: { scope: 'keys' } })
  const { keyId } = await openAccount(service)
  t.equal((await browser.send('DELETE', `/v1/keys/${keyId}`)).status, 404)
})

t.test('a page of another site creates and revokes no key', async t => {
  const browser = await signedIn('alan@example.com')
  const { body: key } = await browser.send<CreatedKey>('POST', '/v1/keys', newKey)
  for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }]) {
    const sent = [
      await browser.send<ErrorBody>('POST', '/v1/keys', newKey, headers),
      await browser.send<ErrorBody>('DELETE', `/v1/keys/${key.id}`, undefined, headers),
    ]
    for (const { status, body } of sent) t.match([status, body.error.message], [403, /comes from another site/])
  }
  t.equal((await browser.send<KeyList>('GET', '/v1/keys')).body.data.length, 1)
})

t.test('a session opens only what owners may use, and nothing once it has ended', async t => {
  const browser = await signedIn('edsger@example.com')
  t.equal((await browser.send('POST', '/mcp', {})).status, 401)
  t.equal((await browser.send('GET', '/v1/key')).status, 401)
  await browser.post('/console/sign-out', {}, { Origin: service.url })
  t.equal((await browser.send('POST', '/v1/keys', newKey)).status, 401)
})
