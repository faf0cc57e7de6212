import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import * as examples from '../../schemas/api/examples.ts'
import { callExample, JsonRpcResult } from '../../schemas/api/mcp.ts'
import type { Provider, ProviderOutcome, Working } from '../../src/ports/provider.ts'
import { broken } from '../../src/reactors/runs/provider-calls.ts'
import { filePart, textPart, upload } from '../support/multipart.ts'
import { startReceiver } from '../support/receiver.ts'
import { picture as pictureFile } from '../support/sample-files.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

// The OpenAPI document shows these examples, so they must match real answers.

const working = { kind: 'working', pollAfterMs: 100 } as const
const png = { mimeType: 'image/png', bytes: await pictureFile('png') }

/** The provider's next poll answers, by run. A run without one is in progress. */
const polls = new Map<string, (ProviderOutcome | Working)[]>()

const provider: Provider = {
  submit: async ({ runId, endpoint }) => {
    if (endpoint.endsWith('t2v')) return { kind: 'submitted', jobId: runId, pollAfterMs: 100 }
    return endpoint.endsWith('t2t')
      ? { kind: 'done', media: [], text: examples.text.output?.text ?? '' }
      : { kind: 'done', media: [png] }
  },
  poll: async ({ runId }) => polls.get(runId)?.shift() ?? working,
  cancel: async () => undefined,
  close: async () => undefined,
}

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true' }
const service = await startService(t, { environment, providers: { sandbox: provider } })

const { runsWithInput: runs } = examples
const textRequest = { model: examples.text.model, input: { prompt: 'a lake' } }

/** Masks the parts that differ between requests: ids, times, hosts, file names and secrets. */
const masked = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/\b(acct|key|run|upl)_[0-9a-z]{26}/g, '$1_ID')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
      .replaceAll(/https?:\/\/[^/"]+/g, 'HOST')
      .replaceAll(/\b[0-9a-f]{32}\b/g, 'NAME')
      .replaceAll(/("sha256":)"[0-9a-f]{64}"/g, '$1"DIGEST"')
      .replaceAll(/(expires=)\d+(.*signature=)[0-9a-f]{64}/g, '$1TIME$2SIGNATURE')
      .replaceAll(/whsec_[A-Za-z0-9+/]{43}=/g, 'whsec_SECRET')
      .replaceAll(/id:\d+/g, 'id:REVISION')
      .replaceAll(/"seed":\d+/g, '"seed":0'),
  )

/** Starts the video of the examples and returns its id once it is in progress. */
const startVideo = async (t: Test, customer: Customer): Promise<string> => {
  const { webhook_url, ...request } = examples.videoRequest
  const { body } = await customer.run(request)
  const run = await until('the run has started', async () => {
    const { body: found } = await customer.send(`/v1/runs/${body.run_id}`)
    return found.status !== 'queued' && found
  })
  t.same(masked(run), masked(runs.processing))
  return body.run_id
}

t.test('runs that end during the wait, and a page of runs', async t => {
  const customer = await openAccount(service)
  t.same(masked((await customer.run(textRequest)).body), masked(runs.text))
  t.same(masked((await customer.run(examples.imageRequest)).body), masked(runs.image))
  await startVideo(t, customer)
  t.same(masked((await customer.send('/v1/runs?limit=2')).body), masked(examples.runList))
})

t.test('an event stream of a failing run', async t => {
  const customer = await openAccount(service)
  const id = await startVideo(t, customer)
  const headers = { Authorization: `Bearer ${customer.apiKey}` }
  const answer = await fetch(`${customer.url}/v1/runs/${id}/events`, { headers })
  let text = ''
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (!polls.has(id) && text.includes('event:run')) polls.set(id, [{ ...working, progress: 0.4 }, broken])
  }
  t.equal(masked(text), masked(examples.runEvents))
  t.same(masked((await customer.send(`/v1/runs/${id}`)).body), masked(runs.failed))
})

t.test('a cancelled run', async t => {
  const customer = await openAccount(service)
  const id = await startVideo(t, customer)
  t.same(masked((await customer.post(`/v1/runs/${id}/cancel`, {})).body), masked(runs.cancelled))
})

t.test('webhooks', async t => {
  const receiver = await startReceiver(t)
  const customer = await openAccount(service)
  await customer.run({ ...examples.imageRequest, webhook_url: receiver.url })
  await receiver.until(1)
  t.same(masked(receiver.deliveries[0]?.event), masked(examples.completedEvent))
  const { body } = await customer.run({ ...examples.videoRequest, webhook_url: receiver.url })
  polls.set(body.run_id, [broken])
  await receiver.until(2)
  t.same(masked(receiver.deliveries[1]?.event), masked(examples.failedEvent))
  t.same(masked((await customer.send('/v1/webhooks/secret')).body), masked(examples.webhookSecret))
})

t.test('uploads', async t => {
  const customer = await openAccount(service)
  const bytes = await readFile('docs/first-picture.jpg')
  const file = filePart(bytes, 'image/jpeg', 'filename="lake.jpg"')
  const { body } = await upload(customer, file, textPart('folder_path', 'photos/2026'))
  t.same(masked(body), masked(examples.upload))
  t.same(masked((await customer.send('/v1/uploads')).body), masked(examples.uploadList))
  const deleted = await customer.send(`/v1/uploads/${body.id}`, { method: 'DELETE' })
  t.same(masked(deleted.body), masked(examples.deletedUpload))
  const presigned = await customer.post('/v1/uploads/presigned', examples.presignRequest)
  t.same(masked(presigned.body), masked(examples.presigned))
})

t.test('the balance, and the result of a tool', async t => {
  const customer = await openAccount(service, { credits: examples.balance.credits_balance })
  t.same((await customer.send('/v1/balance')).body, examples.balance)
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
  await customer.run(examples.imageRequest)
  t.same(masked((await customer.send('/v1/ledger')).body), masked(examples.ledgerList))
  t.equal(masked((await customer.send('/v1/ledger/export')).text), masked(examples.ledgerExport))
})

t.test('the usage', async t => {
  const customer = await openAccount(service)
  await customer.run(examples.imageRequest)
  const id = await startVideo(t, customer)
  polls.set(id, [broken])
  await until('the run has failed', async () => (await customer.send(`/v1/runs/${id}`)).body.status === 'failed')
  t.same(masked((await customer.send('/v1/usage?group_by=day,model')).body), masked(examples.usageList))
})

t.test('the health check', async t => {
  const client = service.client()
  t.same((await client.send('/healthz')).body, examples.health)
  const { free_bytes } = examples.readiness
  t.same({ ...(await client.send('/readyz')).body, free_bytes }, examples.readiness)
})
