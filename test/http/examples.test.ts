import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { WebhookDeliveryList } from '../../schemas/api/delivery.ts'
import examples from '../../schemas/api/examples.json' with { type: 'json' }
import type { CreatedKey, OwnKey } from '../../schemas/api/key.ts'
import { callExample, JsonRpcResult } from '../../schemas/api/mcp.ts'
import type { ModelList } from '../../schemas/api/model.ts'
import type { Provider, ProviderOutcome, Working } from '../../src/ports/provider.ts'
import { broken } from '../../src/reactors/runs/provider-calls.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { filePart, textPart, upload } from '../support/multipart.ts'
import { startReceiver, status } from '../support/receiver.ts'
import { recorded } from '../support/recorded.ts'
import { picture as pictureFile } from '../support/sample-files.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

// The OpenAPI document shows these examples. They are recorded from the answers in these tests: npm run docs:examples.

const working = { kind: 'working', pollAfterMs: 100 } as const
const png = { mimeType: 'image/png', bytes: await pictureFile('png') }

/** The provider's next poll answers, by run. A run without one is in progress. */
const polls = new Map<string, (ProviderOutcome | Working)[]>()

const provider: Provider = {
  submit: async ({ runId, endpoint }) => {
    if (endpoint.endsWith('t2v')) return { kind: 'submitted', jobId: runId, pollAfterMs: 100 }
    return endpoint.endsWith('t2t')
      ? { kind: 'done', media: [], text: examples.runs.text.output.text }
      : { kind: 'done', media: [png] }
  },
  poll: async ({ runId }) => polls.get(runId)?.shift() ?? working,
  cancel: async () => undefined,
}

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true', TRUSTED_PROXIES: '127.0.0.1' }
const service = await startService(t, { environment, providers: { sandbox: provider } })

const { requests } = examples
const textRequest = { model: examples.runs.text.model, input: { prompt: 'a lake' } }

/** Starts the video of the examples and returns its id once it is in progress. */
const startVideo = async (t: Test, customer: Customer): Promise<string> => {
  const { webhook_url, ...request } = requests.video
  const { body } = await customer.run(request)
  const run = await until('the run has started', async () => {
    const { body: found } = await customer.send(`/v1/runs/${body.run_id}`)
    return found.status !== 'queued' && found
  })
  recorded(t, 'runs.processing', run)
  return body.run_id
}

t.test('runs that end during the wait, and a page of runs', async t => {
  const customer = await openAccount(service)
  recorded(t, 'runs.text', (await customer.run(textRequest)).body)
  recorded(t, 'runs.image', (await customer.run(requests.image)).body)
  await startVideo(t, customer)
  recorded(t, 'runList', (await customer.send('/v1/runs?limit=2')).body)
})

t.test('an event stream of a failing run', async t => {
  const customer = await openAccount(service)
  const id = await startVideo(t, customer)
  const headers = { Authorization: `Bearer ${customer.apiKey}` }
  const answer = await fetch(`${customer.url}/v1/runs/${id}/events`, { headers })
  let text = ''
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (!polls.has(id) && text.includes('event: run')) polls.set(id, [{ ...working, progress: 0.4 }, broken])
  }
  recorded(t, 'runEvents', text)
  recorded(t, 'runs.failed', (await customer.send(`/v1/runs/${id}`)).body)
})

t.test('a cancelled run', async t => {
  const customer = await openAccount(service)
  const id = await startVideo(t, customer)
  recorded(t, 'runs.cancelled', (await customer.post(`/v1/runs/${id}/cancel`, {})).body)
})

t.test('webhooks', async t => {
  const receiver = await startReceiver(t)
  const customer = await openAccount(service)
  await customer.run({ ...requests.image, webhook_url: receiver.url })
  await receiver.until(1)
  recorded(t, 'webhooks.run.completed', receiver.deliveries[0]?.event)
  const { body } = await customer.run({ ...requests.video, webhook_url: receiver.url })
  polls.set(body.run_id, [broken])
  await receiver.until(2)
  recorded(t, 'webhooks.run.failed', receiver.deliveries[1]?.event)
  recorded(t, 'webhookSecret', (await customer.send('/v1/webhooks/secret')).body)
})

t.test('uploads', async t => {
  const customer = await openAccount(service)
  const bytes = await readFile('docs/first-picture.jpg')
  const file = filePart(bytes, 'image/jpeg', 'filename="lake.jpg"')
  const { body } = await upload(customer, file, textPart('folder_path', 'photos/2026'))
  recorded(t, 'upload', body)
  recorded(t, 'uploadList', (await customer.send('/v1/uploads')).body)
  const deleted = await customer.send(`/v1/uploads/${body.id}`, { method: 'DELETE' })
  recorded(t, 'deletedUpload', deleted.body)
  const presigned = await customer.post('/v1/uploads/presigned', requests.presign)
  recorded(t, 'presignedUpload', presigned.body)
})

t.test('models and a quote', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.send<ModelList>('/v1/models')
  const data = examples.modelList.data.map(({ id }) => body.data.find(family => family.id === id))
  recorded(t, 'modelList', partOf({ ...body, data }, examples.modelList))
  const input = { prompt: 'A quiet mountain lake', num_images: 2, resolution: '2K', enable_web_search: true }
  recorded(t, 'quote', (await customer.post('/v1/run?dry_run=true', { model: examples.quote.model, input })).body)
})

/** The members that an example shows. Shown in full, a model takes pages. */
const partOf = (whole: unknown, shown: unknown): unknown => {
  if (typeof shown !== 'object' || shown === null) return whole
  const parts = Object.entries(shown).map(([name, value]) => [
    name,
    partOf((whole as typeof shown)[name as never], value),
  ])
  return Array.isArray(shown) ? parts.map(([, part]) => part) : Object.fromEntries(parts)
}

t.test('keys, a run with a test key, and notices', async t => {
  const owner = new BrowserClient(service.url)
  await owner.signIn(service, 'ada@example.com')
  const inAMonth = new Date(Date.now() + 30 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
  const { body: created } = await owner.send<CreatedKey>('POST', '/v1/keys', {
    ...requests.newKey,
    expires_at: inAMonth,
  })
  recorded(t, 'createdKey', created)
  const key = service.client(created.api_key)
  const headers = { 'X-Forwarded-For': requests.newKey.addresses[0] as string }
  t.equal((await key.run(requests.image, headers)).status, 200)
  const isUsed = async () => (await key.send<OwnKey>('/v1/key', { headers })).body.last_used_at
  await until('the use of the key is recorded', isUsed)
  recorded(t, 'ownKey', (await key.send('/v1/key', { headers })).body)
  recorded(t, 'keyList', (await owner.send('GET', '/v1/keys')).body)
  const { body: test } = await owner.send<CreatedKey>('POST', '/v1/keys', requests.newTestKey)
  recorded(t, 'createdTestKey', test)
  recorded(t, 'runs.test', (await service.client(test.api_key).run(requests.image)).body)
  recorded(t, 'revokedKey', (await owner.send('DELETE', `/v1/keys/${created.id}`)).body)
  recorded(t, 'noticeSettings', (await owner.send('PUT', '/v1/notices', requests.notices)).body)
})

t.test('budgets', async t => {
  const customer = await openAccount(service)
  recorded(t, 'newBudget', (await customer.post('/v1/budgets', requests.newBudget)).body)
  t.equal((await customer.run({ ...requests.image, budget: requests.newBudget.name })).status, 200)
  recorded(t, 'budget', (await customer.send('/v1/budgets/customer%2017')).body)
  recorded(t, 'budgetList', (await customer.send('/v1/budgets')).body)
  recorded(t, 'removedBudget', (await customer.send('/v1/budgets/customer%2017', { method: 'DELETE' })).body)
})

t.test('a webhook that is retried, one that is sent again, and tests of a receiver', async t => {
  const receiver = await startReceiver(t, status(503))
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...requests.image, webhook_url: receiver.url })
  await receiver.until(1)
  receiver.answer = status(204)
  const deliveries = `/v1/runs/${body.run_id}/deliveries`
  await until('the webhook is delivered', async () => {
    const { data } = (await customer.send<WebhookDeliveryList>(deliveries)).body
    return data[0]?.status === 'delivered'
  })
  recorded(t, 'deliveryList', (await customer.send(deliveries)).body)
  recorded(t, 'resentDelivery', (await customer.post(deliveries, {})).body)
  const { url } = receiver
  recorded(t, 'webhookTest', (await customer.post('/v1/webhooks/test', { url })).body)
  recorded(
    t,
    'webhooks.webhook.test',
    receiver.deliveries.map(({ event }) => event).find(({ type }: { type: string }) => type === 'webhook.test'),
  )
  receiver.answer = status(500)
  recorded(t, 'failedWebhookTest', (await customer.post('/v1/webhooks/test', { url })).body)
  recorded(t, 'rotatedSecret', (await customer.post('/v1/webhooks/secret/rotate', {})).body)
})

t.test('the balance, and the result of a tool', async t => {
  const customer = await openAccount(service, { credits: examples.balance.credits_balance })
  recorded(t, 'balance', (await customer.send('/v1/balance')).body)
  const other = await openAccount(service, { credits: 90 })
  const { body } = await other.post('/mcp', callExample, {
    Accept: '*/*',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'get_balance',
  })
  const { examples: [result] = [] } = JsonRpcResult as { examples?: unknown[] }
  t.same(body, result)
})

t.test('the ledger', async t => {
  const customer = await openAccount(service)
  await customer.run(requests.image)
  recorded(t, 'ledgerList', (await customer.send('/v1/ledger')).body)
  recorded(t, 'ledgerExport', (await customer.send('/v1/ledger/export')).text)
})

t.test('the usage', async t => {
  const customer = await openAccount(service)
  await customer.run(requests.image)
  const id = await startVideo(t, customer)
  polls.set(id, [broken])
  await until('the run has failed', async () => (await customer.send(`/v1/runs/${id}`)).body.status === 'failed')
  recorded(t, 'usageList', (await customer.send('/v1/usage?group_by=day,model')).body)
})

t.test('the health checks', async t => {
  const client = service.client()
  recorded(t, 'health', (await client.send('/healthz')).body)
  recorded(t, 'readiness', (await client.send('/readyz')).body)
})
