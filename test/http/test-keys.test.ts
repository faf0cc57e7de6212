import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { WebhookDeliveryList } from '../../schemas/api/delivery.ts'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { ApiKey, CreatedKey, KeyList } from '../../schemas/api/key.ts'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import type { ModelFamily } from '../../schemas/api/model.ts'
import type { Quote, RunList } from '../../schemas/api/run.ts'
import type { PresignedUpload, UploadList } from '../../schemas/api/upload.ts'
import type { UsageList } from '../../schemas/api/usage.ts'
import type { WebhookSecret } from '../../schemas/api/webhook.ts'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { KeyRow } from '../../schemas/views.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { fromMicros, toMicros } from '../../src/domain/money.ts'
import { routes } from '../../src/http/routes.ts'
import { tools } from '../../src/mcp/tools.ts'
import { call, connect, refusal } from '../mcp/support.ts'
import { queueRun } from '../support/account-samples.ts'
import { caughtUp } from '../support/caught-up.ts'
import type { Reply } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { auditFolder } from '../support/ledger.ts'
import { filePart, formOf, formType, imagePart, textPart, upload } from '../support/multipart.ts'
import { startReceiver, untilRecorded } from '../support/receiver.ts'
import { picture as pictureFile } from '../support/sample-files.ts'
import { type Customer, openAccount, openKey, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'
import { FAL_KEY, startFal } from '../support/vendors/fal.ts'
import { KEY, startOpenAi } from '../support/vendors/openai.ts'

const operator = { kind: 'operator', name: 'ada' } as const
const png = await pictureFile('png')

// Providers are on, and none of them may notice a test.
const openAi = await startOpenAi(t)
const fal = await startFal(t)
const folder = await temporaryFolder(t)
const environment = {
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: openAi.url,
  FAL_KEY,
  FAL_BASE_URL: fal.url,
  ALLOW_PRIVATE_WEBHOOKS: 'true',
  TEST_RUNS_PER_DAY: '40',
}
const service = await startService(t, { folder, environment })
const { log } = service.core

const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }
const picture = { model: 'gpt-image-2-6', input: { prompt: 'a red dot' } }
const film = { model: 'kling-3-pro', input: { prompt: 'waves at night' } }
/** A run of the sandbox's family for tests, whose input says what happens. */
const job = (outcome: string, more: object = {}) => ({ model: 'sandbox', input: { prompt: 'hello', outcome, ...more } })

/** An account with a live and a test key. */
const openBoth = async (limits: Partial<Parameters<typeof openAccount>[1]> = {}) => {
  const live = await openAccount(service, { credits: 1000, ...limits })
  return { live, test: await openKey(service, live, { livemode: false }) }
}

const eventsOf = async (accountId: AccountId) => await collect(log.readStream(accountStream(accountId), 0))

/** The movements of credits after the account was opened, and the calls at vendors. None may come from a test. */
const costs = async (accountId: AccountId) => ({
  moves: (await eventsOf(accountId)).map(({ type }) => type).filter(type => /^Credits|^ProviderCost/.test(type)),
  calls: openAi.requests.length + fal.requests.length,
})

t.test('a test key in every operation: nothing is debited, and no provider is called', async t => {
  const { live, test } = await openBoth()
  const manager = await openKey(service, live, { livemode: false, scope: 'keys' })
  const ran = (await test.run(text)).body.run_id
  const open = async () => (await test.run(film)).body.run_id
  const sent = (await upload(test, filePart(png))).body.id
  const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run_model', arguments: text } }
  const mcpHeaders = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25' }
  const messages = [{ role: 'user', content: 'hello' }]
  const get = (path: string) => () => test.send(path)

  /** Other reads need only a path. */
  const others: Record<string, () => Promise<Reply<unknown>>> = {
    getModel: get('/v1/models/nano-banana-2'),
    runModel: () => test.run(picture),
    createChatCompletion: () => test.post('/v1/chat/completions', { model: 'gpt-6-1-terra', messages }),
    createResponse: () => test.post('/v1/responses', { model: 'gpt-6-1-terra', input: 'hello' }),
    generateImages: () => test.post('/v1/images/generations', { model: 'nano-banana-2', prompt: 'hello' }),
    editImages: () => {
      const form = formOf(imagePart(png), textPart('model', 'nano-banana-2'), textPart('prompt', 'hello'))
      return test.send('/v1/images/edits', { method: 'POST', headers: { 'Content-Type': formType }, body: form })
    },
    createSpeech: () => test.post('/v1/audio/speech', { model: 'eleven-v3', input: 'hello' }),
    cancelRun: async () => test.post(`/v1/runs/${await open()}/cancel`, {}, { Prefer: 'wait=30' }),
    listKeys: () => manager.send('/v1/keys'),
    setTopUp: () => {
      const body = JSON.stringify({ below_credits: 1, credits: 1, monthly_amount: '1.00' })
      return test.send('/v1/top_up', { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body })
    },
    removeTopUp: () => test.send('/v1/top_up', { method: 'DELETE' }),
    openPurchase: () => test.post('/v1/purchases', { begin_at_once: true, pack: 'starter' }),
    withdrawPurchase: () => test.post('/v1/purchases/pur_00000000000000000000000000/withdrawal', {}),
    createKey: () => manager.post('/v1/keys', { name: 'another', livemode: false }),
    revokeKey: async () => {
      const { keyId } = await openKey(service, live, { livemode: false })
      return manager.send(`/v1/keys/${keyId}`, { method: 'DELETE' })
    },
    setBudget: () => test.post('/v1/budgets', { name: 'x', credits: 1 }),
    getBudget: get('/v1/budgets/x'),
    removeBudget: () => test.send('/v1/budgets/x', { method: 'DELETE' }),
    proveEvent: get(`/v1/ledger/proof?run=${ran}`),
    proveConsistency: get('/v1/ledger/consistency?from=1&to=2'),
    sendUpload: () => upload(test, filePart(png)),
    presignUpload: () => test.post('/v1/uploads/presigned', { filename: 'a.png', mime_type: 'image/png' }),
    deleteUpload: () => test.send(`/v1/uploads/${sent}`, { method: 'DELETE' }),
    rotateWebhookSecret: () => test.post('/v1/webhooks/secret/rotate', {}),
    testWebhook: () => test.post('/v1/webhooks/test', { url: 'http://127.0.0.1:9/' }),
    resendWebhook: () => test.post(`/v1/runs/${ran}/deliveries`, {}),
    setNotices: () =>
      test.send('/v1/notices', { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{}' }),
    callMcp: () => test.post('/mcp', mcp, mcpHeaders),
  }
  const keyed = routes.filter(({ auth }) => auth !== 'none')
  const reads = keyed
    .filter(({ id, method }) => method === 'get' && !(id in others))
    .map(({ id, path }) => [id, get(path.replace(':id', path.startsWith('/v1/uploads') ? sent : ran))] as const)
  const requests: Record<string, () => Promise<Reply<unknown>>> = { ...Object.fromEntries(reads), ...others }
  /** Those that are not for it: its runs have no debits to prove, nothing is sealed, and it changes no settings. */
  const refused: Record<string, number> = {
    ...{ proveEvent: 404, proveConsistency: 404, getSeal: 404 },
    ...{ rotateWebhookSecret: 403, getNotices: 403, setNotices: 403 },
    ...{ getTopUp: 404, setTopUp: 403, removeTopUp: 403 },
    ...{ openPurchase: 403, withdrawPurchase: 403, getPurchase: 404, getInvoice: 403 },
    ...{ setBudget: 403, getBudget: 404, removeBudget: 403 },
    // The run has no webhook.
    resendWebhook: 404,
  }

  t.same(Object.keys(requests).sort(), keyed.map(({ id }) => id).toSorted(), 'every operation is tried')
  const before = await costs(live.accountId)
  for (const [id, send] of Object.entries(requests)) {
    const { status, text: answered } = await send()
    const expected = id.startsWith('audit') ? 403 : refused[id]
    t.ok(expected === undefined ? status < 300 : status === expected, `${id}: ${status} ${answered.slice(0, 200)}`)
    t.same(await costs(live.accountId), before, id)
  }
  await until('all test runs have ended', async () => {
    const { body } = await test.send<RunList>('/v1/runs')
    return body.data.length === 9 && body.data.every(({ status }) => status === 'completed' || status === 'failed')
  })
  t.same(await costs(live.accountId), before)
  t.equal(await live.balance(), 1000)
})

t.test('a test key in every tool', async t => {
  const { live, test } = await openBoth()
  const agent = await connect(t, test, '2025-11-25')
  const before = await costs(live.accountId)
  const { body: run } = await call<{ run_id: string }>(agent, 'run_model', text)
  t.match(run, { livemode: false, status: 'completed', provider: 'sandbox', credits_charged: 0 })
  const one = { run_id: run.run_id }
  const answers: Record<string, [args: object, expected: object]> = {
    list_models: [{ model: 'sandbox' }, { data: [{ id: 'sandbox' }] }],
    get_run: [one, one],
    list_runs: [{}, { data: [{ ...one, livemode: false }] }],
    quote_run: [text, { livemode: false, credits: 0, live_credits: Number }],
    get_balance: [{}, { credits_balance: 1000 }],
    get_statement: [{}, { data: [] }],
    get_usage: [{}, { data: [] }],
    create_upload: [{ filename: 'a.png', mime_type: 'image/png' }, { method: 'PUT' }],
  }
  for (const [name, [args, expected]] of Object.entries(answers))
    t.match((await call(agent, name, args)).body, expected, name)
  t.match(await refusal(agent, 'cancel_run', one), { code: 'run_ended' })
  t.match(await refusal(agent, 'explain_charge', one), { code: 'invalid_request', message: /test run/ })
  const tried = [...Object.keys(answers), 'run_model', 'cancel_run', 'explain_charge']
  t.same(tried.toSorted(), tools.map(({ name }) => name).toSorted())
  t.same(await costs(live.accountId), before)
})

t.test('a test run is done by the sandbox and says what it would cost; a live one goes to the provider', async t => {
  const { live, test } = await openBoth()
  const tested = await test.run(text)
  t.match(tested, { status: 200, body: { livemode: false, status: 'completed', provider: 'sandbox' } })
  const calls = openAi.bodies.length
  const lived = await live.run(text)
  t.match(lived, { status: 200, body: { livemode: true, status: 'completed', provider: 'openai' } })
  t.equal(openAi.bodies.length, calls + 1)
  t.match(tested.body, { credits_charged: 0, live_credits: lived.body.credits_charged })
  t.notOk('live_credits' in lived.body)
  const [dryTest, dryLive] = [
    (await test.post<Quote>('/v1/run?dry_run=true', text)).body,
    (await live.post<Quote>('/v1/run?dry_run=true', text)).body,
  ]
  t.match(dryTest, { livemode: false, credits: 0, live_credits: lived.body.credits_charged, lines: dryLive.lines })
  t.match(dryLive, { livemode: true, credits: lived.body.credits_charged })
})

t.test('without credits a test key works, and a live one does not', async t => {
  const { live, test } = await openBoth({ credits: 0 })
  t.equal((await live.run(text)).status, 402)
  t.equal((await test.run(text)).status, 200)
})

t.test('test runs fail on request, for every account, and nothing is refunded', async t => {
  const { live, test } = await openBoth()
  const { body } = await test.run(job('content_rejected'))
  const failed = { livemode: false, status: 'failed', error: { code: 'content_rejected' } }
  t.match(body, { ...failed, credits_charged: 0, credits_refunded: 0, live_credits: 1 })
  t.match((await test.send(`/v1/runs/${body.run_id}`)).body, failed)
  t.match((await test.send<ModelFamily>('/v1/models/sandbox')).body, { id: 'sandbox' })
  t.match(await live.run(job('content_rejected')), { status: 404, body: { error: { code: 'model_not_found' } } })
  t.same((await costs(live.accountId)).moves, ['CreditsGranted'])
})

t.test('the lists and the IDs of one mode are unknown in the other', async t => {
  const { live, test } = await openBoth()
  const runs = { live: (await live.run(text)).body.run_id, test: (await test.run(text)).body.run_id }
  const files = {
    live: (await upload(live, filePart(png))).body,
    test: (await upload(test, filePart(png))).body,
  }
  const image = (by: Customer, { url }: { url: string }) =>
    by.run({ model: 'nano-banana-2', input: { prompt: 'winter', image_url: url } })
  for (const [by, own, other] of [
    [live, 'live', 'test'],
    [test, 'test', 'live'],
  ] as const) {
    const { data } = (await by.send<RunList>('/v1/runs')).body
    t.same(
      data.map(({ run_id }) => run_id),
      [runs[own]],
    )
    const { data: uploads } = (await by.send<UploadList>('/v1/uploads')).body
    t.same(
      uploads.map(({ id }) => id),
      [files[own].id],
    )
    t.equal((await by.send(`/v1/runs/${runs[own]}`)).status, 200)
    t.equal((await by.send(`/v1/uploads/${files[own].id}`)).status, 200)
    for (const [path, method] of [
      [`/v1/runs/${runs[other]}`],
      [`/v1/runs/${runs[other]}/events`],
      [`/v1/runs/${runs[other]}/cancel`, 'POST'],
      [`/v1/uploads/${files[other].id}`],
      [`/v1/uploads/${files[other].id}`, 'DELETE'],
    ] as const)
      t.equal((await by.send(path, { method: method ?? 'GET' })).status, 404, path)
    t.match(await image(by, files[other]), { status: 400, body: { error: { code: 'invalid_input' } } })
  }
  t.equal((await image(test, files.test)).status, 200)
  const put = await test.post<PresignedUpload>('/v1/uploads/presigned', { filename: 'a.png', mime_type: 'image/png' })
  t.equal((await live.send(`/v1/uploads/${put.body.id}`)).status, 404)
})

t.test('a test key finds its deliveries at once, and no ID of the many live runs', async t => {
  const waiting = await startService(t, { environment: { ROLES: 'api,projector', ALLOW_PRIVATE_WEBHOOKS: 'true' } })
  const { accounts } = waiting.core
  const live = await openAccount(waiting)
  const test = await openKey(waiting, live, { livemode: false })
  const queue = (run: number) =>
    accounts.execute(operator, live.accountId, queueRun({ run, credits: 0.1, webhook: true }))
  await Promise.all(Array.from({ length: 600 }, (_, run) => queue(run)))
  const { run_id } = (await test.run({ ...film, webhook_url: 'http://127.0.0.1/' })).body
  const { body } = await test.send<WebhookDeliveryList>('/v1/deliveries')
  t.match(body, { data: [{ run_id }], has_more: false, next_cursor: null })
})

t.test('the ledger, the usage and the balance are those of live mode', async t => {
  const { live, test } = await openBoth()
  const { credits_charged, credits_released = 0 } = (await live.run(text)).body
  const cost = fromMicros(toMicros(credits_charged) - toMicros(credits_released))
  for (let run = 0; run < 3; run++) await test.run(text)
  t.equal(await live.balance(), 1000 - cost)
  t.equal(await test.balance(), 1000 - cost)
  const { data } = (await live.send<LedgerList>('/v1/ledger')).body
  t.same(
    data.map(({ kind }) => kind),
    ['release', 'debit', 'grant'],
  )
  t.match((await live.send<UsageList>('/v1/usage')).body.data, [
    { runs: 1, credits_charged, credits_released, credits: cost },
  ])
  t.same((await test.send<LedgerList>('/v1/ledger')).body.data, [])
  t.equal((await test.send('/v1/ledger/export')).text, '')
  t.same((await test.send<UsageList>('/v1/usage')).body.data, [])
  const lived = (await live.send<RunList>('/v1/runs')).body.data[0]?.run_id
  t.equal((await test.send(`/v1/ledger/proof?run=${lived}`)).status, 404)
  t.equal((await test.send(`/v1/ledger/proof?event=${data[0]?.event_id}`)).status, 404)
  const summary = unwrap(await service.core.services.accounts.find(operator, live.accountId))
  t.match(summary.sums, { debitedMicros: credits_charged * 1_000_000, refundedMicros: 0 })
  t.match(await service.core.services.refunds.refund(operator, (await test.run(text)).body.run_id, { reason: 'x' }), {
    refuse: { code: 'run_not_charged' },
  })
})

t.test('an idempotency key is another one in the other mode', async t => {
  const { live, test } = await openBoth()
  const headers = { 'Idempotency-Key': 'order-17' }
  const tested = await test.run(text, headers)
  const lived = await live.run({ ...text, label: 'another request' }, headers)
  t.match(lived, { status: 200, body: { livemode: true } })
  t.not(lived.body.run_id, tested.body.run_id)
  const again = await test.run(text, headers)
  t.equal(again.body.run_id, tested.body.run_id)
  t.equal(again.headers.get('Idempotent-Replayed'), 'true')
  t.equal((await test.run({ ...text, label: 'another request' }, headers)).status, 422)
})

t.test('webhooks of test runs are sent as those of live ones, and signed with a secret of their own', async t => {
  const { live, test } = await openBoth()
  const receiver = await startReceiver(t)
  const { body } = await test.run({ ...text, webhook_url: receiver.url })
  await untilRecorded(log, 1, live.accountId, body.run_id)
  const [delivery] = receiver.deliveries
  t.match(delivery?.event, { type: 'run.completed', livemode: false, data: { run_id: body.run_id, livemode: false } })
  const secretOf = async (by: Customer) => (await by.send<WebhookSecret>('/v1/webhooks/secret')).body.secret
  const isSigned = (secret: string, sent = delivery) =>
    new Webhook(secret).verify(sent?.body ?? '', sent?.headers as Record<string, string>)
  isSigned(await secretOf(test))
  t.throws(() => isSigned('whsec_AAAA'))
  const liveSecret = await secretOf(live)
  t.throws(() => isSigned(liveSecret), 'who reads a test key can forge no live webhook')

  const { body: lived } = await live.run({ ...text, webhook_url: receiver.url })
  await receiver.until(2)
  t.match(receiver.deliveries[1]?.event, { livemode: true, data: { livemode: true } })
  isSigned(liveSecret, receiver.deliveries[1])

  await untilRecorded(log, 1, live.accountId, lived.run_id)
  await caughtUp(service.core)
  for (const [by, own, other] of [[test, body, lived] as const, [live, lived, body] as const]) {
    const { data } = (await by.send<WebhookDeliveryList>('/v1/deliveries')).body
    t.same(
      data.map(({ run_id }) => run_id),
      [own.run_id],
    )
    t.equal((await by.send(`/v1/runs/${other.run_id}/deliveries`)).status, 404)
    t.equal((await by.post(`/v1/runs/${other.run_id}/deliveries`, {})).status, 404)
  }
})

t.test('keys of both modes are made and shown, and a test key manages no live one', async t => {
  const { live } = await openBoth()
  const manager = await openKey(service, live, { scope: 'keys' })
  const make = (body: object, by = manager) => by.post<CreatedKey & ErrorBody>('/v1/keys', { name: 'ci', ...body })
  const { body: made } = await make({ livemode: false, models: ['gpt-6-1-terra', 'sandbox'] })
  t.match(made, { livemode: false, api_key: /^tg_sk_test_[0-9a-f]{32}$/ })
  t.match((await make({ livemode: true })).body, { livemode: true, api_key: /^tg_sk_live_[0-9a-f]{32}$/ })
  t.match((await make({})).body, { livemode: true })
  t.match(await make({ livemode: false, budget: { credits: 1, period: 'day' } }), {
    status: 400,
    body: { error: { code: 'invalid_request', errors: [{ path: '/budget' }] } },
  })
  await caughtUp(service.core)
  t.match((await service.client(made.api_key).send<ApiKey>('/v1/key')).body, { id: made.id, livemode: false })
  const modes = async (by: Customer) => (await by.send<KeyList>('/v1/keys')).body.data.map(({ livemode }) => livemode)
  t.same(await modes(manager), [true, true, false, true, false, true])
  const tests = await openKey(service, live, { livemode: false, scope: 'keys' })
  t.same(await modes(tests), [false, false, false])
  t.match(await make({}, tests), { status: 403, body: { error: { code: 'forbidden', message: /only create test/ } } })
  t.equal((await make({ livemode: false }, tests)).status, 200)
  t.equal((await tests.send(`/v1/keys/${live.keyId}`, { method: 'DELETE' })).status, 404)
  t.equal((await tests.send(`/v1/keys/${made.id}`, { method: 'DELETE' })).status, 200)
})

t.test('an account has a number of test runs a day, whichever key asks', async t => {
  const { live, test } = await openBoth()
  const other = await openKey(service, live, { livemode: false })
  const replies = await Promise.all(Array.from({ length: 50 }, (_, run) => (run % 2 ? test : other).run(text)))
  t.equal(replies.filter(({ status }) => status === 200).length, 40)
  const refused = replies.filter(({ status }) => status !== 200)
  for (const reply of refused) {
    t.match(reply, { status: 429, body: { error: { code: 'rate_limited', message: /had 40 test runs today/ } } })
    const seconds = Number(reply.headers.get('Retry-After'))
    t.ok(seconds > 0 && seconds <= 24 * 60 * 60)
  }
  t.equal((await live.run(text)).status, 200, 'live runs go on')
  t.equal((await test.post('/v1/run?dry_run=true', text)).status, 200)
})

t.test('the account’s record of a key decides on its mode, and neither its text nor a view', async t => {
  const forgeable = await startService(t)
  const { views } = forgeable.core
  const live = await openAccount(forgeable)
  const test = await openKey(forgeable, live, { livemode: false })
  await caughtUp(forgeable.core)
  const [hash, invented] = [sha256(test.apiKey), live.apiKey.replace('_live_', '_test_')]
  t.equal((await forgeable.client(invented).send('/v1/key')).status, 401)
  const row = await views.get<KeyRow>('keys', hash)
  const checkpoint = await views.checkpoint()
  if (!row || !checkpoint) throw new Error('the views are empty')
  const { livemode: _, ...asLive } = row
  const forged = [
    [hash, { ...asLive, scope: 'full' }],
    [sha256(live.apiKey), { ...row, keyId: live.keyId }],
    [sha256(invented), { ...row, keyId: live.keyId }],
  ] as const
  // Signed, as if the forger had the secret as well.
  const rows = forged.map(([key, row]) => ({ view: 'keys', key, row }))
  await views.commit({ rows, entries: [], from: checkpoint, to: checkpoint })
  t.match((await test.run(text)).body, { livemode: false, credits_charged: 0 })
  t.equal(await live.balance(), 100)
  t.match((await live.run(text)).body, { livemode: true })
  t.equal((await forgeable.client(invented).send('/v1/key')).status, 401)
})

t.test('a queued test run is started by another process, in the sandbox', async t => {
  const { live, test } = await openBoth()
  await service.stop()
  const calls = openAi.requests.length + fal.requests.length
  const asking = await startService(t, { folder, environment: { ...environment, ROLES: 'api,projector' } })
  const { body } = await test.at(asking.url).run(text, { Prefer: 'wait=1' })
  t.match(body, { livemode: false, status: 'queued' })
  await asking.stop()
  const next = await startService(t, { folder, environment })
  const again = test.at(next.url)
  const find = async () => (await again.send(`/v1/runs/${body.run_id}`)).body
  await until('the run has ended', async () => (await find()).status === 'completed')
  t.match(await find(), { livemode: false, provider: 'sandbox' })
  t.equal(openAi.requests.length + fal.requests.length, calls)
  t.equal(await live.at(next.url).balance(), 1000)
  await next.stop()
  t.same((await auditFolder(folder)).faults, [])
})
