import t from 'tap'
import { KEY_SCOPES, type KeyScope } from '../../schemas/actor.ts'
import { accountStream } from '../../schemas/events.ts'
import type { KeyRow } from '../../schemas/views.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { isForAccounts } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import { tools } from '../../src/mcp/tools.ts'
import { connect, errorOf, request, revisions } from '../mcp/support.ts'
import { createKey } from '../support/account-samples.ts'
import { caughtUp } from '../support/caught-up.ts'
import { picture, type Sending } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { filePart, formOf, formType, imagePart, textPart } from '../support/multipart.ts'
import { type Customer, instantProvider, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const RUN = 'run_01h455vb4pex5vsknk084sn02q'
const KEY = 'key_01h455vb4pex5vsknk084sn02q'
const UPLOAD = 'upl_01h455vb4pex5vsknk084sn02q'
const PURCHASE = 'pur_01h455vb4pex5vsknk084sn02q'

const full: KeyScope[] = ['full']
const reading: KeyScope[] = ['full', 'read']

const post = (body: object = {}, headers: Record<string, string> = {}): Sending => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

interface Row {
  path: string
  sending?: Sending
  /** The scopes that may send the request. */
  allowed: KeyScope[]
}

const protocol = request('2025-11-25', 'tools/list')
const file = { filename: 'a.png', mime_type: 'image/png' }

/** Routes with another permission than `read`, or that need more than their path. */
const special: Record<string, Row> = {
  runModel: { path: '/v1/run', sending: post(picture), allowed: full },
  createChatCompletion: {
    path: '/v1/chat/completions',
    sending: post({ model: 'gpt-6-1-terra', messages: [{ role: 'user', content: 'hello' }] }),
    allowed: full,
  },
  createResponse: {
    path: '/v1/responses',
    sending: post({ model: 'gpt-6-1-terra', input: 'hello' }),
    allowed: full,
  },
  generateImages: {
    path: '/v1/images/generations',
    sending: post({ model: 'nano-banana-2', prompt: 'hello' }),
    allowed: full,
  },
  editImages: {
    path: '/v1/images/edits',
    sending: {
      method: 'POST',
      headers: { 'Content-Type': formType },
      body: formOf(imagePart(Buffer.from('hello')), textPart('model', 'nano-banana-2')),
    },
    allowed: full,
  },
  createSpeech: { path: '/v1/audio/speech', sending: post({ model: 'eleven-v3', input: 'hello' }), allowed: full },
  cancelRun: { path: `/v1/runs/${RUN}/cancel`, sending: { method: 'POST' }, allowed: full },
  listKeys: { path: '/v1/keys', allowed: ['keys'] },
  getTopUp: { path: '/v1/top_up', allowed: reading },
  setTopUp: {
    path: '/v1/top_up',
    sending: { ...post({ below_credits: 1, credits: 1, monthly_amount: '1.00' }), method: 'PUT' },
    allowed: full,
  },
  removeTopUp: { path: '/v1/top_up', sending: { method: 'DELETE' }, allowed: full },
  openPurchase: { path: '/v1/purchases', sending: post({ pack: 'starter', begin_at_once: true }), allowed: full },
  withdrawPurchase: { path: `/v1/purchases/${PURCHASE}/withdrawal`, sending: { method: 'POST' }, allowed: full },
  getInvoice: { path: `/v1/purchases/${PURCHASE}/invoice`, allowed: full },
  createKey: { path: '/v1/keys', sending: post({ name: 'another' }), allowed: ['keys'] },
  revokeKey: { path: `/v1/keys/${KEY}`, sending: { method: 'DELETE' }, allowed: ['keys'] },
  setBudget: { path: '/v1/budgets', sending: post({ name: 'x', credits: 1 }), allowed: full },
  getBudget: { path: '/v1/budgets/x', allowed: reading },
  removeBudget: { path: '/v1/budgets/x', sending: { method: 'DELETE' }, allowed: full },
  getOwnKey: { path: '/v1/key', allowed: [...KEY_SCOPES] },
  proveEvent: { path: `/v1/ledger/proof?run=${RUN}`, allowed: reading },
  proveConsistency: { path: '/v1/ledger/consistency?from=1&to=2', allowed: reading },
  sendUpload: {
    path: '/v1/uploads',
    sending: { method: 'POST', headers: { 'Content-Type': formType }, body: formOf(filePart('hello')) },
    allowed: full,
  },
  presignUpload: { path: '/v1/uploads/presigned', sending: post(file), allowed: full },
  deleteUpload: { path: `/v1/uploads/${UPLOAD}`, sending: { method: 'DELETE' }, allowed: full },
  getWebhookSecret: { path: '/v1/webhooks/secret', allowed: full },
  getNotices: { path: '/v1/notices', allowed: full },
  setNotices: { path: '/v1/notices', sending: { ...post({ email: false }), method: 'PUT' }, allowed: full },
  rotateWebhookSecret: { path: '/v1/webhooks/secret/rotate', sending: { method: 'POST' }, allowed: full },
  testWebhook: { path: '/v1/webhooks/test', sending: post({ url: 'https://receiver.example' }), allowed: full },
  resendWebhook: { path: `/v1/runs/${RUN}/deliveries`, sending: { method: 'POST' }, allowed: full },
  callMcp: { path: '/mcp', sending: post(protocol.message, protocol.headers), allowed: reading },
}

/** A request for every operation behind a key. */
const requests: Record<string, Row> = {
  ...Object.fromEntries(
    routes
      .filter(of => isForAccounts(of) && of.method === 'get')
      .map(({ id, path }) => [id, { path: path.replace(':id', RUN), allowed: reading }]),
  ),
  ...special,
}

const others: Record<string, Row> = {
  'a dry run': { path: '/v1/run?dry_run=true', sending: post(picture), allowed: reading },
  'a read after a position': {
    path: '/v1/balance',
    sending: { headers: { 'Tollgate-Position': '0' } },
    allowed: reading,
  },
  'an MCP initialization': {
    path: '/mcp',
    sending: post(
      request('2025-11-25', 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      }).message,
      protocol.headers,
    ),
    allowed: reading,
  },
}

/** Arguments for every tool. */
const calls: Record<string, { args: object; allowed: KeyScope[] }> = {
  list_models: { args: {}, allowed: reading },
  run_model: { args: picture, allowed: full },
  get_run: { args: { run_id: RUN }, allowed: reading },
  list_runs: { args: {}, allowed: reading },
  cancel_run: { args: { run_id: RUN }, allowed: full },
  quote_run: { args: picture, allowed: reading },
  get_balance: { args: {}, allowed: reading },
  get_statement: { args: {}, allowed: reading },
  get_usage: { args: {}, allowed: reading },
  explain_charge: { args: { run_id: RUN }, allowed: reading },
  create_upload: { args: file, allowed: full },
}

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customers: Record<KeyScope, Customer> = {
  full: await openAccount(service),
  read: await openAccount(service, { scope: 'read' }),
  keys: await openAccount(service, { scope: 'keys' }),
}

t.test('the tests cover every operation behind a key and every tool', async t => {
  const keyed = routes.filter(isForAccounts).map(({ id }) => id)
  t.same(Object.keys(requests).toSorted(), keyed.toSorted())
  t.same(Object.keys(calls).toSorted(), tools.map(({ name }) => name).toSorted())
})

for (const scope of KEY_SCOPES) {
  const customer = customers[scope]

  t.test(`a ${scope} key can send only the requests of its scope`, async t => {
    // The first use of the day is recorded.
    await customer.send('/v1/key')
    const isUsed = async () => (await service.core.accounts.state(customer.accountId)).activeKeys.first()?.usedOn
    await until('the use of the key is recorded', isUsed)
    const head = await service.core.log.head()
    for (const [name, { path, sending, allowed }] of Object.entries({ ...requests, ...others })) {
      const { status, body } = await customer.send(path, sending)
      if (allowed.includes(scope)) t.not(status, 403, name)
      else {
        t.match({ status, body }, { status: 403, body: { error: { code: 'forbidden' } } }, name)
        t.match(
          body.error.message,
          `scope "${scope}", so it may ${scope === 'full' ? 'do everything except manage keys' : 'only'}`,
          name,
        )
      }
    }
    if (scope === 'read') t.equal(await service.core.log.head(), head)
  })

  if (scope !== 'keys')
    for (const revision of revisions)
      t.test(`${revision}: a ${scope} key can call only the tools of its scope`, async t => {
        const client = await connect(t, customer, revision)
        for (const [name, { args, allowed }] of Object.entries(calls)) {
          const result = await client.callTool({ name, arguments: { ...args } })
          const code = result.isError ? errorOf(result).code : undefined
          if (allowed.includes(scope)) t.not(code, 'forbidden', name)
          else t.equal(code, 'forbidden', name)
        }
      })
}

t.test('no scope opens what is for auditors', async t => {
  const head = await service.core.log.head()
  for (const { id, path } of routes.filter(({ auth }) => auth === 'auditor key'))
    for (const scope of KEY_SCOPES) {
      const { status, body } = await customers[scope].send(path)
      t.match(
        { status, body },
        { status: 403, body: { error: { code: 'forbidden', message: /keys of auditors/ } } },
        id,
      )
    }
  t.equal(await service.core.log.head(), head)
})

t.test('a keys key cannot call tools, even without listing them first', async t => {
  for (const [name, { args }] of Object.entries(calls)) {
    const { headers, message } = request('2025-11-25', 'tools/call', { name, arguments: args })
    const { text } = await customers.keys.send('/mcp', post(message, headers))
    t.match(text, /\\"code\\":\\"forbidden\\"/, name)
  }
})

t.test('a key created before scopes existed is a full key', async t => {
  const { core } = service
  const { accountId } = customers.keys
  const apiKey = 'tg_sk_live_before_scopes'
  const created = createKey(1)
  const command = { ...created, key: { ...created.key, hash: sha256(apiKey), scope: undefined as unknown as KeyScope } }
  await core.accounts.execute({ kind: 'operator', name: 'test' }, accountId, command)
  await caughtUp(core)
  const recorded = (await collect(core.log.readStream(accountStream(accountId), 0))).at(-1)
  t.notOk(Object.keys(recorded?.data ?? {}).includes('scope'), 'the event has no scope')

  const old = service.client(apiKey)
  t.equal((await old.run(picture)).status, 200)
  t.equal((await old.send('/v1/webhooks/secret')).status, 200)
})

t.test('a forged scope in a view does not allow spending', async t => {
  const { core } = service
  const { apiKey } = customers.read
  const hash = sha256(apiKey)
  // Runs of the tests above may still move the checkpoint.
  await caughtUp(core)
  const row = await core.views.get<KeyRow>('keys', hash)
  const checkpoint = await core.views.checkpoint()
  if (!row || !checkpoint) throw new Error('the views are empty')
  const forged = JSON.stringify({ ...row, scope: 'full' })
  await core.views.replaceCells([{ address: `rows/keys/${hash}`, value: forged }], checkpoint, checkpoint)
  const { status, body } = await customers.read.run(picture)
  t.match({ status, body }, { status: 403, body: { error: { code: 'forbidden' } } })
  t.equal(await customers.read.balance(), 100)
})
