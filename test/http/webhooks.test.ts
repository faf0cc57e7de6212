import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { WebhookEvent, WebhookSecret } from '../../schemas/api/webhook.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import type { Provider, ProviderOutcome } from '../../src/ports/provider.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { webhookSecret } from '../../src/services/webhooks/send-webhook.ts'
import { caughtUp } from '../support/caught-up.ts'
import { type Client, picture, sandbox, withoutInput } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { type Delivery, hold, startReceiver, status, untilRecorded, webhookEvents } from '../support/receiver.ts'
import { type Customer, openAccount, openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { traceLog } from '../support/trace-log.ts'

const outcomeOf = (input: Record<string, unknown>): ProviderOutcome =>
  input['outcome'] === 'success'
    ? { kind: 'done', media: [], text: 'done' }
    : { kind: 'failed', code: 'content_rejected', message: 'It was refused.' }

/** Ends runs with the outcome in their input; videos are polled jobs. */
const provider: Provider = {
  submit: async ({ runId, endpoint, input }) =>
    endpoint.endsWith('-i2v') ? { kind: 'submitted', jobId: runId, pollAfterMs: 100 } : outcomeOf(input),
  poll: async job => {
    const input = await job.input()
    return input['outcome'] === 'hang' ? { kind: 'working', pollAfterMs: 100 } : outcomeOf(input)
  },
  cancel: async () => undefined,
}

const video = (outcome: string) => ({ model: 'sandbox', input: { prompt: 'hello', image_url: 'none', outcome } })

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const service = await startService(t, { environment, providers: { sandbox: provider } })
const { log, views } = service.core
const faultsOfEvent = compileCheck(WebhookEvent)

const secretOf = async (customer: Client) => (await customer.send<WebhookSecret>('/v1/webhooks/secret')).body.secret

/** Requests a run, cancels it on demand, and resolves once the delivery is recorded. */
const runWithWebhook = async (t: Test, customer: Customer, request: object, cancel = false) => {
  const receiver = await startReceiver(t)
  const { body } = await customer.run({ ...request, webhook_url: `${receiver.url}hooks?of=mine` })
  if (cancel) await customer.post(`/v1/runs/${body.run_id}/cancel`, {})
  const recorded = await untilRecorded(log, 1, customer.accountId, body.run_id)
  return { receiver, recorded, run: await customer.send(`/v1/runs/${body.run_id}`) }
}

const ends: Record<string, [request: object, type: WebhookEvent['type'], errorCode?: string]> = {
  'a sync run that completes': [sandbox({ outcome: 'success' }), 'run.completed'],
  'a sync run that fails': [sandbox({ outcome: 'content_rejected' }), 'run.failed', 'content_rejected'],
  'an async run that completes': [video('success'), 'run.completed'],
  'an async run that fails': [video('content_rejected'), 'run.failed', 'content_rejected'],
  'an async run that is cancelled': [video('hang'), 'run.failed', 'cancelled'],
}
for (const [name, [request, type, errorCode]] of Object.entries(ends))
  t.test(`${name} sends one signed webhook with the run of the API`, async t => {
    const customer = await openAccount(service, { tester: true })
    const withMetadata = { ...request, metadata: { of: 'ä 🎈' } }
    const { receiver, recorded, run } = await runWithWebhook(t, customer, withMetadata, errorCode === 'cancelled')
    t.equal(run.body.error?.code, errorCode)

    t.equal(receiver.deliveries.length, 1)
    const [delivery] = receiver.deliveries as [Delivery]
    t.match(delivery, { method: 'POST', path: '/hooks?of=mine', headers: { 'content-type': 'application/json' } })
    t.same(faultsOfEvent(delivery.event), [])
    t.same(delivery.event, { type, timestamp: run.body.completed_at, livemode: true, data: withoutInput(run.body) })

    const secret = await secretOf(customer)
    t.same(new Webhook(secret).verify(delivery.body, headersOf(delivery)), delivery.event)
    t.equal(delivery.headers['webhook-id'], run.body.run_id.replace('run_', 'msg_'))

    const event = { type: 'WebhookDelivered', data: { runId: run.body.run_id, attempt: 1, status: 204 } }
    t.match(recorded, [{ ...event, metadata: { actor: { kind: 'reactor' } } }])
    // A recorded delivery is no longer due.
    await caughtUp(service.core)
    t.same(await views.list('due', 'byQueue', { prefix: 'deliver/', limit: 10 }), [])
    t.equal(receiver.deliveries.length, 1)
  })

t.test('a changed byte or the secret of another account invalidates the signature', async t => {
  const [customer, stranger] = await Promise.all([
    openAccount(service, { tester: true }),
    openAccount(service, { tester: true }),
  ])
  const { receiver } = await runWithWebhook(t, customer, sandbox({ outcome: 'success' }))
  const [delivery] = receiver.deliveries as [Delivery]
  const secret = await secretOf(customer)
  const refused = (changed: object, body = delivery.body, key = secret) =>
    t.throws(() => new Webhook(key).verify(body, { ...headersOf(delivery), ...changed }), WebhookVerificationError)
  refused({}, flip(delivery.body, 10))
  refused({ 'webhook-id': flip(String(delivery.headers['webhook-id']), 10) })
  refused({ 'webhook-timestamp': String(Number(delivery.headers['webhook-timestamp']) - 1) })
  refused({ 'webhook-signature': flip(String(delivery.headers['webhook-signature']), 10) })
  refused({}, delivery.body, await secretOf(stranger))
})

t.test('a run without a webhook_url sends no webhook', async t => {
  const customer = await openAccount(service)
  t.equal((await customer.run(picture)).status, 200)
  t.same(await views.list('webhooks', 'key', { prefix: `${customer.accountId}/`, limit: 10 }), [])
  t.same(await webhookEvents(log, customer.accountId), [])
})

t.test('the secret is shown only to its account and is not cacheable', async t => {
  const customer = await openAccount(service)
  const shown = await customer.send<WebhookSecret>('/v1/webhooks/secret')
  t.equal(shown.status, 200)
  t.same(compileCheck(WebhookSecret)(shown.body), [])
  t.equal(shown.headers.get('Cache-Control'), 'no-store')
  t.equal(await secretOf(customer), shown.body.secret)
  t.not(await secretOf(await openAccount(service)), shown.body.secret)
  t.equal((await service.client().send('/v1/webhooks/secret')).status, 401)
})

t.test('secrets survive a restart and are in no event and no log line', async t => {
  const folder = await temporaryFolder(t)
  const receiver = await startReceiver(t)
  const { logger, logged } = await traceLog(t)
  const start = () => startService(t, { folder, environment, providers: { sandbox: provider }, logger })
  const first = await start()
  const customer = await openAccount(first, { tester: true })
  const secret = await secretOf(customer)
  await customer.run({ ...sandbox({ outcome: 'success' }), webhook_url: receiver.url })
  await receiver.until(1)
  await first.stop()
  const lines = await logged(/"delivered":true.*"msg":"webhook"/)
  const second = await start()
  t.equal(await secretOf(customer.at(second.url)), secret)
  await second.stop()

  const core = await openFolder(folder)
  const events = JSON.stringify(await collect(core.log.readAll(BEFORE_FIRST)))
  await core.close()
  t.match(events, '"WebhookDelivered"')
  const masterSecret = await readFile(join(folder, 'master-secret'), 'utf8')
  t.equal(secret, webhookSecret(masterSecret, customer.accountId))
  const [delivery] = receiver.deliveries as [Delivery]
  for (const hidden of [masterSecret, secret.slice('whsec_'.length), String(delivery.headers['webhook-signature'])]) {
    t.notOk(lines.includes(hidden))
    t.notOk(events.includes(hidden))
  }
})

t.test('a service that stops records no unfinished attempt, and the next one makes it again', async t => {
  const folder = await temporaryFolder(t)
  const start = () => startService(t, { folder, environment, providers: { sandbox: provider } })
  const first = await start()
  const customer = await openAccount(first, { tester: true })
  const receiver = await startReceiver(t, hold)
  const { body } = await customer.run({ ...sandbox({ outcome: 'success' }), webhook_url: receiver.url })
  await receiver.until(1)
  await first.stop()
  const second = await start()
  t.same(await webhookEvents(second.core.log, customer.accountId), [])
  receiver.answer = status(200)
  const recorded = await untilRecorded(second.core.log, 1, customer.accountId, body.run_id)
  t.match(recorded, [{ type: 'WebhookDelivered', data: { attempt: 1 } }])
})

t.test('an invalid webhook_url is refused before any charge', async t => {
  const customer = await openAccount(service)
  const head = await log.head()
  const bad = [
    'nonsense',
    '/hook',
    'ftp://example.com/hook',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '',
    `https://example.com/${'x'.repeat(2048)}`,
    'http://user:secret@example.com/',
    `http://${'a'.repeat(1900)}/`,
    7,
  ]
  const hostless = ['http://', 'http://1.1.1.1:99999/', 'http://1.1.1.1:0/', 'http://exa mple.com']
  for (const webhook_url of hostless) {
    const { body } = await customer.post('/v1/run?dry_run=true', { ...picture, webhook_url })
    t.match(body.error, { message: 'webhook_url has no valid host or port.' }, webhook_url)
  }
  for (const webhook_url of [...bad, ...hostless])
    for (const path of ['/v1/run', '/v1/run?dry_run=true']) {
      const { status, body } = await customer.post(path, { ...picture, webhook_url })
      t.equal(status, 400, String(webhook_url))
      t.match(body.error, { code: 'invalid_request', errors: [{ path: '/webhook_url' }] })
    }
  t.equal(await log.head(), head)
  t.equal(await customer.balance(), 100)

  const longest = `https://example.com/${'x'.repeat(2048 - 'https://example.com/'.length)}`
  t.equal((await customer.post('/v1/run?dry_run=true', { ...picture, webhook_url: longest })).status, 200)
})

t.test('a host that is literally not public is refused before any charge', async t => {
  const service = await startService(t, { providers: { sandbox: provider } })
  const customer = await openAccount(service)
  const head = await service.core.log.head()
  const loopback = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]']
  const names = ['localhost', 'LocalHost.', 'redis', 'metadata.google.internal', 'printer.local']
  for (const host of [...loopback, ...names, '169.254.169.254', '10.0.0.1', '168.63.129.16', '[fd00::1]'])
    for (const [path, asked] of Object.entries({
      '/webhook_url': { ...picture, webhook_url: `http://${host}:3000/` },
      '/input/image_url': { model: 'nano-banana-2', input: { prompt: 'x', image_url: `http://${host}:3000/a.png` } },
    })) {
      const { status, body } = await customer.post('/v1/run', asked)
      t.equal(status, 400, host)
      t.match(body.error, { code: 'invalid_input', errors: [{ path }] })
    }
  t.equal(await service.core.log.head(), head)
  t.equal(await customer.balance(), 100)
})

function headersOf({ headers }: Delivery): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function flip(text: string, at: number): string {
  const changed = String.fromCharCode(text.charCodeAt(at) ^ 1)
  return text.slice(0, at) + changed + text.slice(at + 1)
}
