import OpenAI from 'openai'
import t, { type Test } from 'tap'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { ProviderOutcome } from '../../src/ports/provider.ts'
import { FETCH_MS } from '../../src/reactors/runs/artifacts.ts'
import { requestHash } from '../../src/services/runs/long-parameters.ts'
import { call, connect } from '../mcp/support.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { caughtUp } from '../support/caught-up.ts'
import { picture, sandbox } from '../support/client.ts'
import { filesWith } from '../support/folder-search.ts'
import { auditFolder } from '../support/ledger.ts'
import { formOf, formType, textPart } from '../support/multipart.ts'
import { operatorOf } from '../support/operator.ts'
import { pngWith, picture as samplePicture } from '../support/sample-files.ts'
import { type Customer, instantProvider, openAccount, startService } from '../support/service.ts'
import { streamSent } from '../support/spoken-service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'test' } as const
const caller = { role: 'user', content: 'marker-prompt' }
const toolCalls = [
  { id: 'call_1', type: 'function' as const, function: { name: 'read_tide', arguments: '{"port":"marker-call"}' } },
]
const answered: ProviderOutcome = { kind: 'done', media: [], text: 'marker-answer', toolCalls }
const refused: ProviderOutcome = { kind: 'failed', code: 'content_rejected', message: 'No marker-refusal.' }

/** A service whose text models answer as told, with the searchable folder of its data. */
const start = async (t: Test, outcome: () => ProviderOutcome = () => answered) => {
  const folder = await temporaryFolder(t)
  const service = await startService(t, {
    folder,
    providers: {
      sandbox: {
        submit: async job => {
          job.onText?.('marker-')
          return outcome()
        },
      },
    },
  })
  const customer = await openAccount(service)
  /** Closes the stores, and audits them. */
  const found = async (...texts: string[]) => {
    await caughtUp(service.core)
    await service.stop()
    t.same((await auditFolder(folder)).faults, [])
    t.equal((await operatorOf(folder).run('audit', 'verify')).code, 0, 'an auditor finds no fault')
    return filesWith(folder, ...texts)
  }
  return { folder, service, customer, found }
}

const conversation = (more: object = {}) => ({
  model: 'gpt-6-1-terra',
  input: { messages: [caller], max_output_tokens: 512 },
  metadata: { order: 'marker-metadata' },
  ...more,
})

const find = async (customer: Customer, id: string) => (await customer.send<Run>(`/v1/runs/${id}`)).body

const keepNothing = async (service: Awaited<ReturnType<typeof start>>['service'], { accountId }: Customer) => {
  unwrap(await service.core.services.accounts.setRetention(operator, accountId, 0, 'agreed'))
  await caughtUp(service.core)
}

t.test('a text that is not kept is in its response only', async t => {
  const { customer, found } = await start(t)
  const { status, body } = await customer.run(conversation({ store: false }))
  t.equal(status, 200)
  t.match(body, {
    ...{ status: 'completed', store: false, metadata: { order: 'marker-metadata' } },
    ...{ input: { messages: [caller] }, output: { text: 'marker-answer', tool_calls: toolCalls } },
  })
  const shown = await find(customer, body.run_id)
  t.match(shown, { status: 'completed', store: false, credits_charged: body.credits_charged })
  t.same([shown.input, shown.metadata, shown.output], [undefined, undefined, {}])
  t.match((await customer.send<RunList>('/v1/runs?include=input')).body.data, [{ store: false, input: undefined }])
  const kept = await customer.run(conversation({ input: { messages: [{ role: 'user', content: 'kept-prompt' }] } }))
  t.equal(kept.body.store, undefined)
  const all = await found('marker-prompt', 'marker-metadata', 'marker-answer', 'marker-call')
  // The log holds the prompt encrypted, and the views hold none.
  t.match(all.join(), /marker-answer/, 'the search finds a run that is kept')
  t.same(
    all.filter(each => each.endsWith('marker-prompt')),
    [],
  )
})

t.test('no part of such a run is in the data, whichever way it came', async t => {
  const { folder, service, customer, found } = await start(t)
  const png = await samplePicture('png')
  const image = pngWith(png, 'prVt', Buffer.alloc(80_000, 'marker-pixels')).toString('base64')
  const url = `data:image/png;base64,${image}`
  const content = [
    { type: 'text', text: `marker-long ${'x'.repeat(80_000)}` },
    { type: 'image_url', image_url: { url } },
  ]
  const unkept = { store: false, metadata: { order: 'marker-metadata' } }
  const long = await customer.run(conversation({ ...unkept, input: { messages: [{ role: 'user', content }] } }))
  t.match(long.body, { status: 'completed', output: { text: 'marker-answer' } }, long.text.slice(0, 300))
  t.equal(long.body.input, undefined, 'a long input is not sent back')
  t.match(await streamSent(customer, '/v1/run', conversation({ ...unkept, stream: true })), /"text":"marker-answer"/)

  const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey, maxRetries: 0 })
  const chat = { model: 'gpt-6-1-terra', messages: [{ role: 'user', content: 'marker-prompt' }], ...unkept } as const
  t.match(await openai.chat.completions.create(chat as never), { choices: [{ message: { content: 'marker-answer' } }] })
  const asked = { model: 'gpt-6-1-terra', input: 'marker-prompt', user: 'marker-metadata', store: false }
  t.match(await openai.responses.create(asked), { output_text: 'marker-answer' })
  t.match(await streamSent(customer, '/v1/chat/completions', { ...chat, stream: true }), /\[DONE\]/)
  t.match(await streamSent(customer, '/v1/responses', { ...asked, stream: true }), /response\.completed/)

  const client = await connect(t, customer, '2025-11-25')
  for (const onprogress of [undefined, () => undefined]) {
    const { body } = await call<Run>(client, 'run_model', conversation(unkept), onprogress && { onprogress })
    t.match(body, { store: false, output: { text: 'marker-answer' } }, 'also with progress')
  }
  t.same(await filesWith(folder, 'marker-'), [], 'while the service runs')
  t.same(await found('marker-', image.slice(40_000, 40_040)), [])
})

t.test('the words of a provider that refuses an input are not kept either', async t => {
  const { customer, found } = await start(t, () => refused)
  const { body } = await customer.run(conversation({ store: false }))
  t.match(body, { status: 'failed', error: { code: 'content_rejected', message: 'No marker-refusal.' } })
  const { error, credits_refunded } = await find(customer, body.run_id)
  t.match(error, { code: 'content_rejected', message: /was not kept/ })
  t.equal(credits_refunded, body.credits_charged)
  t.same(await found('marker-'), [])
})

t.test('a repeat gets the run without its result, and is not charged', async t => {
  const { service, customer } = await start(t)
  const key = { 'Idempotency-Key': 'once' }
  const first = await customer.run(conversation({ store: false }), key)
  const balance = await customer.balance()
  const second = await customer.run(conversation({ store: false }), key)
  t.match(second.body, { run_id: first.body.run_id, status: 'completed', store: false, output: {} })
  t.equal(second.body.output?.text, undefined)
  t.equal(second.headers.get('Idempotent-Replayed'), 'true')
  const other = await customer.run(conversation({ store: false, metadata: {} }), key)
  t.equal(other.body.error.code, 'idempotency_mismatch')

  const chat = { model: 'gpt-6-1-terra', messages: [caller], store: false }
  await customer.post('/v1/chat/completions', chat, { 'Idempotency-Key': 'chat' })
  for (const stream of [false, true]) {
    const again = await customer.post('/v1/chat/completions', { ...chat, stream }, { 'Idempotency-Key': 'chat' })
    t.match(again, { status: 404, body: { error: { code: 'not_found', message: /its answer was not kept/ } } })
    t.equal(again.headers.get('X-Should-Retry'), 'false')
  }
  const client = await connect(t, customer, '2026-07-28')
  const args = { ...conversation({ store: false }), idempotency_key: 'once' }
  const { notes } = await call<Run>(client, 'run_model', args)
  t.match(notes.join(), /Its result was not kept/)
  t.ok((await customer.balance()) < balance, 'only the chat was charged since')
  t.equal((await customer.send<RunList>('/v1/runs')).body.data.length, 2)
  await service.stop()
})

t.test('the digest of a request that is not kept tells nothing', async t => {
  const { service, customer } = await start(t)
  const key = { 'Idempotency-Key': 'guess' }
  const other = await openAccount(service)
  await keepNothing(service, other)
  for (const each of [customer, other]) await each.run(conversation({ store: false }), key)
  const guess = await requestHash(conversation({ store: false }))
  for (const { accountId } of [customer, other]) {
    const [request] = (await service.core.accounts.state(accountId)).requests.values()
    t.match(request?.requestHash, /^[0-9a-f]{64}$/)
    t.not(request?.requestHash, guess)
  }
})

t.test('files that are not kept are deleted some minutes later', async t => {
  const folder = await temporaryFolder(t)
  let laterMs = 0
  const clock = { ...systemClock, nowMs: () => Date.now() + laterMs }
  const service = await startService(t, { folder, clock })
  const customer = await openAccount(service)
  const request = { model: 'nano-banana-2', input: { prompt: 'marker-prompt', num_images: 2 }, store: false }
  const { body } = await customer.run({ ...request, metadata: { order: 'marker-metadata' } })
  const { urls = [], will_delete_at: deletion = '' } = body.output ?? {}
  t.equal(urls.length, 2)
  t.equal(Date.parse(deletion) - Date.parse(body.completed_at ?? ''), FETCH_MS)
  const image = await fetch(urls[0] ?? '')
  const part = Buffer.from(await image.arrayBuffer()).subarray(1000, 1040)
  t.not((await filesWith(folder, part)).length, 0, 'the search finds an image')
  laterMs = FETCH_MS + 1000
  await until('the files are deleted', async () => (await find(customer, body.run_id)).output?.deleted_at !== undefined)
  t.equal((await fetch(urls[0] ?? '')).status, 404)
  await service.stop()
  t.same(await filesWith(folder, 'marker-', part), [])
  t.same((await auditFolder(folder)).faults, [])
})

t.test('a run that would need its input or a receiver later is refused', async t => {
  const { service, customer } = await start(t)
  const film = { model: 'gemini-omni-flash', input: { prompt: 'waves', duration: 4, resolution: '360p' }, store: false }
  const hook = { ...picture, store: false, webhook_url: 'https://example.com/hook' }
  for (const path of ['/v1/run', '/v1/run?dry_run=true']) {
    t.match(await customer.post(path, film), { status: 400, body: { error: { errors: [{ path: '/model' }] } } })
    t.match(await customer.post(path, hook), { status: 400, body: { error: { errors: [{ path: '/webhook_url' }] } } })
  }
  t.match(await customer.run({ ...picture, store: true }), {
    status: 400,
    body: { error: { code: 'invalid_request' } },
  })
  await keepNothing(service, customer)
  t.equal((await customer.run({ ...film, store: undefined })).status, 400)
  t.equal(await customer.balance(), 100)
})

t.test('without a free place at a provider, such a run does not wait in the queue', async t => {
  const waiting: (() => void)[] = []
  const submit = (job: Parameters<typeof instantProvider.submit>[0]) =>
    new Promise<ProviderOutcome>(resolve => waiting.push(() => resolve(instantProvider.submit(job, never) as never)))
  const never = new AbortController().signal
  const service = await startService(t, { providers: { sandbox: { submit } }, limits: { permitsPerProvider: 1 } })
  const customer = await openAccount(service, { tester: true })
  const first = customer.run({ ...sandbox(), store: false }, { Prefer: 'respond-async' })
  await until('the provider works', () => waiting.length > 0)
  const second = await customer.run({ ...sandbox(), store: false })
  t.match(second, { status: 503, body: { error: { code: 'unavailable' } } })
  t.equal(second.headers.get('Retry-After'), '1')
  waiting[0]?.()
  const { status, headers } = await first
  t.equal(status, 200, 'the response waits for the end')
  t.equal(headers.get('Preference-Applied'), null)
  t.equal(await customer.balance(), 99)
})

t.test('an account can be set to keep nothing', async t => {
  const { folder, service, customer, found } = await start(t)
  await keepNothing(service, customer)
  t.match((await customer.run(conversation())).body, { store: false, output: { text: 'marker-answer' } })
  t.match(unwrap(await service.core.services.accounts.find(operator, customer.accountId)), { retentionDays: 0 })
  unwrap(await service.core.services.accounts.setRetention(operator, customer.accountId, undefined, 'ended'))
  const kept = { ...conversation(), input: { prompt: 'kept' }, metadata: {} }
  t.equal((await customer.run(kept)).body.store, undefined)
  t.match((await filesWith(folder, 'marker-prompt', 'marker-metadata')).join(), '')
  t.same(await found('marker-prompt', 'marker-metadata'), [])
})

t.test('the file of a form is deleted with the end of its run, and its name is not recorded', async t => {
  const folder = await temporaryFolder(t)
  const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
  const customer = await openAccount(service)
  const file = pngWith(await samplePicture('png'), 'prVt', Buffer.alloc(1000, 'marker-pixels'))
  const disposition = 'Content-Disposition: form-data; name="image"; filename="marker-name.png"'
  const image = { headers: `${disposition}\r\nContent-Type: image/png`, body: file }
  const texts = { model: 'nano-banana-2', prompt: 'marker-prompt', user: 'marker-metadata', store: 'false' }
  const parts = Object.entries(texts).map(([name, text]) => textPart(name, text))
  const { status, text } = await customer.send('/v1/images/edits', {
    method: 'POST',
    headers: { 'Content-Type': formType },
    body: formOf(image, ...parts),
  })
  t.equal(status, 200, text)
  await until('the upload is deleted', async () => (await filesWith(folder, 'marker-')).length === 0)
  const speech = { model: 'eleven-v3', input: 'marker-prompt', voice: 'Rachel', store: false }
  t.equal((await customer.post('/v1/audio/speech', speech)).status, 200)
  const { data } = (await customer.send<RunList>('/v1/runs')).body
  t.same(
    data.map(({ store }) => store),
    [false, false],
  )
  await service.stop()
  t.same(await filesWith(folder, 'marker-'), [])
})

t.test('the console says that nothing was kept', async t => {
  const { service, customer } = await start(t)
  const { body } = await customer.run(conversation({ store: false }))
  const browser = new BrowserClient(service.url)
  const account = unwrap(await service.core.services.accounts.find(operator, customer.accountId)).account
  await browser.signIn(service, account.email ?? '')
  const { text } = await browser.get(`/console/runs/${body.run_id}`)
  t.match(text, /Nothing of this run was kept but its cost\./)
  t.match(text, /The input was not kept\./)
  await service.stop()
})

t.test('an operator sets what is kept of an account', async t => {
  const { folder, service, customer } = await start(t)
  await service.stop()
  const operator = operatorOf(folder)
  const { accountId } = customer
  const set = ['accounts', 'retention', accountId]
  t.match(await operator.json(t, ...set, '0', '--reason', 'agreed'), { account_id: accountId, retention_days: 0 })
  t.match(await operator.json(t, 'accounts', 'show', accountId), { retention_days: 0 })
  t.match(await operator.text(t, 'audit', 'replay', accountId), /nothing of runs is kept: agreed/)
  t.match(await operator.json(t, ...set, 'default', '--reason', 'ended'), { retention_days: null })
  t.equal((await operator.run('audit', 'verify')).code, 0)
})
