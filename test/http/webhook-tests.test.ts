import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { WebhookTest } from '../../schemas/api/delivery.ts'
import type { WebhookSecret } from '../../schemas/api/webhook.ts'
import { WebhookTestEvent } from '../../schemas/api/webhook.ts'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import type { Client } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type Answer, hold, startReceiver, status } from '../support/receiver.ts'
import { openAccount, openFolder, openKey, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const folder = await temporaryFolder(t)
const clock = new ManualClock()
const service = await startService(t, { folder, clock, environment, providers: {} })
const { log, services } = service.core
const operator = { kind: 'operator', name: 'ada' } as const

interface Problem {
  error: { code: string; message: string; errors: object[] }
}
const test = (client: Client, url: unknown) => client.post<WebhookTest & Problem>('/v1/webhooks/test', { url })

const testEvents = async (from: EventLog, accountId: AccountId) =>
  (await collect(from.readStream(accountStream(accountId), 0))).filter(({ type }) => type.startsWith('WebhookTest'))

t.test('a test is signed like a webhook, sent once, and recorded with its result', async t => {
  const customer = await openAccount(service)
  const receiver = await startReceiver(t, status(201))
  const { body, headers } = await test(customer, `${receiver.url}hook?of=mine`)
  const [delivery, ...more] = receiver.deliveries
  t.same(more, [])
  t.match(delivery, { method: 'POST', path: '/hook?of=mine', headers: { 'content-type': 'application/json' } })
  t.same(compileCheck(WebhookTestEvent)(delivery?.event), [])
  t.match(delivery?.event, { type: 'webhook.test', timestamp: new Date(clock.nowMs()).toISOString(), livemode: true })
  const { secret } = (await customer.send<WebhookSecret>('/v1/webhooks/secret')).body
  const { 'webhook-signature': signature, 'webhook-id': id = '' } = delivery?.headers ?? {}
  t.equal(new Webhook(secret).sign(String(id), new Date(clock.nowMs()), delivery?.body ?? ''), signature)

  const message = 'The receiver accepted the test with 201.'
  t.match(body, { object: 'webhook_test', webhook_id: id, delivered: true, status_code: 201, message })
  t.match(headers.get('Tollgate-Position'), /^\d+$/)
  const testId = String(id).replace('msg_', 'wht_')
  t.match(await testEvents(log, customer.accountId), [
    {
      type: 'WebhookTestRequested',
      data: { testId, url: `${receiver.url}hook?of=mine` },
      metadata: { actor: { kind: 'key' } },
    },
    { type: 'WebhookTested', data: { testId, status: 201, latencyMs: body.latency_ms } },
  ])
})

t.test('both secrets sign a test after a rotation', async t => {
  const customer = await openAccount(service)
  const receiver = await startReceiver(t)
  await customer.post('/v1/webhooks/secret/rotate', undefined)
  await test(customer, receiver.url)
  t.equal(String(receiver.deliveries[0]?.headers['webhook-signature']).split(' ').length, 2)
})

const failures: Record<string, { answer: Answer; shown: object }> = {
  'an error': { answer: status(500), shown: { status_code: 500, message: 'The receiver answered with 500.' } },
  'a redirect': { answer: status(307, { Location: '/elsewhere' }), shown: { status_code: 307 } },
  'a cut connection': { answer: response => response.destroy(), shown: { message: /could not be reached/ } },
}
for (const [name, { answer, shown }] of Object.entries(failures))
  t.test(`a receiver that answers with ${name} gets no second attempt`, async t => {
    const customer = await openAccount(service)
    const receiver = await startReceiver(t, answer)
    const reply = await test(customer, receiver.url)
    t.match(reply, { status: 200, body: { delivered: false, ...shown } })
    t.equal('status_code' in reply.body, 'status_code' in shown)
    t.equal(receiver.deliveries.length, 1)
    const [, tested] = await testEvents(log, customer.accountId)
    t.match(tested, { type: 'WebhookTested', data: { reason: reply.body.message } })
  })

t.test('an invalid or private URL is refused before the test counts', async t => {
  const guarded = await startService(t, { providers: {} })
  const customer = await openAccount(guarded)
  const head = await guarded.core.log.head()
  const wrong = ['nonsense', 'ftp://example.com', 'http://', 'http://user:secret@example.com/', '', 7, undefined]
  for (const url of [...wrong, `https://example.com/${'x'.repeat(2048)}`]) {
    const { status, body } = await test(customer, url)
    t.equal(status, 400, String(url))
    t.match(body.error, { code: 'invalid_request', errors: [{ path: '/url' }] })
  }
  for (const host of ['127.0.0.1', '2130706433', '[::1]', '[::ffff:10.0.0.1]', 'localhost', '169.254.169.254']) {
    const { status, body } = await test(customer, `http://${host}:3000/`)
    t.match({ status, body }, { status: 400, body: { error: { code: 'invalid_input', errors: [{ path: '/url' }] } } })
  }
  t.equal(await guarded.core.log.head(), head)
})

t.test('an account has five tests an hour, in all processes together', async t => {
  const customer = await openAccount(service)
  const receiver = await startReceiver(t)
  const other = await startService(t, { folder, clock, environment, providers: {} })
  const elsewhere = customer.at(other.url)
  await until('the other process knows the key', async () => (await elsewhere.send('/v1/balance')).status === 200)
  const clients = Array.from({ length: 12 }, (_, index) => (index % 2 ? customer : elsewhere))
  const replies = await Promise.all(clients.map(client => test(client, receiver.url)))
  const accepted = replies.filter(reply => reply.status === 200).length
  t.ok(replies.every(reply => [200, 429, 503].includes(reply.status)))
  for (let left = 5 - accepted; left > 0; left--) t.equal((await test(customer, receiver.url)).status, 200)
  for (const client of [customer, elsewhere]) {
    const { status, headers, body } = await test(client, receiver.url)
    t.equal(status, 429)
    t.match(body.error, { code: 'rate_limited', message: /5 webhook tests an hour/ })
    t.equal(headers.get('Retry-After'), '3600')
  }
  t.equal(receiver.deliveries.length, 5)
  clock.advance(60 * 60 * 1000)
  t.equal((await test(elsewhere, receiver.url)).status, 200)
  t.equal((await test(await openAccount(service), receiver.url)).status, 200, 'others have their own')
})

t.test('only full keys test webhooks', async t => {
  const customer = await openAccount(service)
  for (const scope of ['read', 'keys'] as const)
    t.equal((await test(await openKey(service, customer, { scope }), 'http://')).status, 403, scope)
  t.equal((await test(service.client(), 'https://example.com')).status, 401)
  t.same(await testEvents(log, customer.accountId), [])
})

t.test('a result is recorded even if the key is revoked and the account suspended meanwhile', async t => {
  const customer = await openAccount(service)
  const receiver = await startReceiver(t, hold)
  const reply = test(customer, receiver.url)
  receiver.answer = response => {
    const end = async () => {
      t.match(await testEvents(log, customer.accountId), [{ type: 'WebhookTestRequested' }], 'it was counted before')
      unwrap(await services.keys.revoke(operator, customer.accountId, customer.keyId))
      unwrap(await services.accounts.suspend(operator, customer.accountId, 'unpaid'))
      response.writeHead(200).end()
    }
    void end()
  }
  t.match(await reply, { status: 200, body: { delivered: true } })
  t.equal((await testEvents(log, customer.accountId)).length, 2)
})

t.test('a test that the stop of the process cuts off is no failure of the receiver, and still counts', async t => {
  const folder = await temporaryFolder(t)
  const stopping = await startService(t, { folder, environment, providers: {} })
  const customer = await openAccount(stopping)
  const receiver = await startReceiver(t, hold)
  const reply = test(customer, receiver.url).catch(error => error)
  await receiver.until(1)
  await Promise.all([stopping.stop(), reply])
  t.not((await reply).status, 200)
  t.equal(receiver.deliveries.length, 1)
  const core = await openFolder(folder)
  t.match(await testEvents(core.log, customer.accountId), [{ type: 'WebhookTestRequested' }])
  t.equal((await testEvents(core.log, customer.accountId)).length, 1)
  await core.close()

  receiver.answer = status(204)
  const next = await startService(t, { folder, environment, providers: {} })
  const statuses: number[] = []
  for (let count = 0; count < 5; count++) statuses.push((await test(customer.at(next.url), receiver.url)).status)
  t.same(statuses, [200, 200, 200, 200, 429])
})
