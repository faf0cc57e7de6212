import t from 'tap'
import { TypeID } from 'typeid-js'
import { Balance } from '../../schemas/api/balance.ts'
import { Charge } from '../../schemas/api/charge.ts'
import { LedgerList } from '../../schemas/api/ledger.ts'
import type { ModelFamily, ModelList } from '../../schemas/api/model.ts'
import { Quote, Run, RunList, RunRequest } from '../../schemas/api/run.ts'
import { PresignedUpload, PresignRequest } from '../../schemas/api/upload.ts'
import { UsageList } from '../../schemas/api/usage.ts'
import { clientSchema } from '../../src/http/openapi/client-schema.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { picture, sandbox, withoutInput } from '../support/client.ts'
import * as files from '../support/sample-files.ts'
import { openAccount, startService } from '../support/service.ts'
import { call, connect, refusal, revisions } from './support.ts'

const service = await startService(t)

/** A shape as it is sent. */
const sent = (shape: object) => JSON.parse(JSON.stringify(clientSchema(shape)))

const outputs = {
  run_model: Run,
  get_run: Run,
  list_runs: RunList,
  cancel_run: Run,
  quote_run: Quote,
  get_balance: Balance,
  get_statement: LedgerList,
  get_usage: UsageList,
  explain_charge: Charge,
  create_upload: PresignedUpload,
}

/** A schema without what tells people about it. */
const bare = (schema: unknown): unknown =>
  JSON.parse(
    JSON.stringify(schema, (name, value) => (name === 'description' || name === 'examples' ? undefined : value)),
  )

for (const revision of revisions) {
  t.test(`${revision}: the tools are listed, with the shapes of the API`, async t => {
    const client = await connect(t, await openAccount(service), revision)
    t.match(client.getServerVersion(), { name: 'tollgate', title: 'Tollgate', version: '0.2.0' })
    t.same(client.getServerCapabilities(), { tools: { listChanged: false } })
    t.match(client.getInstructions(), /run_model spends credits/)

    const { tools } = await client.listTools()
    t.same(
      tools.map(tool => tool.name),
      ['list_models', ...Object.keys(outputs)],
    )
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      t.ok(title, name)
      t.match(description, /credits|costs nothing/i, name)
      t.same(
        Object.keys(annotations ?? {}).sort(),
        ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint'],
        name,
      )
      // The service's own validator takes JSON Schema 2020-12 alone, and no keyword that it does not know.
      t.equal(inputSchema['additionalProperties'], false, name)
      for (const schema of [inputSchema, outputSchema ?? {}]) t.doesNotThrow(() => compileCheck(schema)({}), name)
    }
    const listed = Object.fromEntries(tools.map(tool => [tool.name, tool]))
    for (const [name, shape] of Object.entries(outputs))
      t.same(Object.keys(listed[name]?.outputSchema?.['properties'] ?? {}), Object.keys(sent(shape).properties), name)
    t.same(bare(listed['quote_run']?.inputSchema), bare(listed['run_model']?.inputSchema))
    t.same(listed['create_upload']?.inputSchema, sent(PresignRequest))
    const { idempotency_key, ...properties } = listed['run_model']?.inputSchema.properties ?? {}
    const { stream: _, ...withoutStream } = sent(RunRequest).properties
    t.same(properties, withoutStream)
    t.match(idempotency_key, { type: 'string', pattern: '^[!-~]{1,255}$' })
  })

  t.test(`${revision}: models are listed in full as by the API, in short, and by what they do`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const list = async (args: object) => (await call<ModelList>(client, 'list_models', args)).body.data
    const ids = async (args: object) => (await list(args)).map(({ id }) => id)

    const all = (await customer.send<ModelList>('/v1/models')).body.data
    t.same((await call(client, 'list_models')).body, (await customer.send('/v1/models')).body)
    t.same(await list({ brief: false }), all)
    const inShort = ({ endpoints, ...family }: ModelFamily) => ({
      ...family,
      endpoints: endpoints.map(({ parameters_schema, pricing, ...endpoint }) => endpoint),
    })
    t.same(await list({ brief: true }), all.map(inShort))
    t.same(
      await list({ brief: true, output_type: 'text' }),
      all.filter(({ output_type }) => output_type === 'text').map(inShort),
    )

    for (const model of ['nano-banana-2', 'nano'])
      t.same(
        await list({ model }),
        all.filter(({ id }) => id === 'nano-banana-2'),
      )

    const idsWhere = (isWanted: (family: ModelFamily) => boolean) => all.filter(isWanted).map(({ id }) => id)
    t.same(
      await ids({ output_type: 'audio' }),
      idsWhere(({ output_type }) => output_type === 'audio'),
    )
    t.same(
      await ids({ kind: 'i2v' }),
      idsWhere(({ endpoints }) => endpoints.some(({ kind }) => kind === 'i2v')),
    )
    t.same(
      await ids({ mode: 'async' }),
      idsWhere(({ endpoints }) => endpoints.some(({ mode }) => mode === 'async')),
    )
    t.same(await ids({ query: 'NANO' }), ['nano-banana-2', 'nano-banana-pro', 'nano-banana-2-lite'])
    t.match(await call(client, 'list_models', { query: 'nano', kind: 'i2v' }), {
      body: { data: [] },
      notes: [/list all models/],
    })
    t.same((await call(client, 'list_models', { query: 'nano' })).notes, [])
    t.same(await ids({ query: 'veo', output_type: 'video' }), ['veo-3-1', 'veo-3-1-fast'])

    t.equal((await refusal(client, 'list_models', { model: 'nope' })).code, 'model_not_found')
  })

  t.test(`${revision}: what only testers may see is listed for them alone`, async t => {
    const tester = await connect(t, await openAccount(service, { tester: true }), revision)
    t.match((await call<ModelList>(tester, 'list_models', { model: 'sandbox' })).body.data, [{ id: 'sandbox' }])
    const other = await connect(t, await openAccount(service), revision)
    t.equal((await refusal(other, 'list_models', { model: 'sandbox' })).code, 'model_not_found')
  })

  t.test(`${revision}: a run costs what was quoted, and its file is linked to`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const quote = await call<Quote>(client, 'quote_run', picture)
    t.same(quote.body, (await customer.post('/v1/run?dry_run=true', picture)).body)
    t.same(await call(client, 'get_balance'), {
      body: { object: 'balance', credits_balance: 100, credits_paid: 0, credits_free: 100, credits_held: 0 },
      notes: [],
      links: [],
    })

    const metadata = { order: 7 }
    const { body, notes, links } = await call<Run>(client, 'run_model', { ...picture, metadata })
    t.match(body, { status: 'completed', credits_charged: quote.body.credits, metadata })
    t.same(notes, [])
    t.equal(await customer.balance(), 100 - quote.body.credits)
    const url = String(body.output?.url)
    const name = url.slice(url.lastIndexOf('/') + 1)
    t.same(links, [{ type: 'resource_link', uri: url, name, mimeType: 'image/png' }])
    t.equal((await fetch(url)).headers.get('Content-Type'), 'image/png')

    for (const run_id of [body.run_id, TypeID.fromString(body.run_id).toUUID().toUpperCase()])
      t.same(await call(client, 'get_run', { run_id }), { body, notes, links })
    t.same(body, withoutInput((await customer.send(`/v1/runs/${body.run_id}`)).body))
  })

  t.test(`${revision}: several files are several links, and a text is none`, async t => {
    const client = await connect(t, await openAccount(service, { tester: true }), revision)
    const two = { ...picture, input: { ...picture.input, num_images: 2, output_format: 'webp' } }
    const { body, links } = await call<Run>(client, 'run_model', two)
    t.match(
      links,
      body.output?.urls?.map(uri => ({ uri, mimeType: 'image/webp' })),
    )
    t.equal(links.length, 2)
    t.same((await call<Run>(client, 'run_model', sandbox())).links, [])
  })

  t.test(`${revision}: the account’s runs are listed page by page`, async t => {
    const customer = await openAccount(service, { tester: true })
    const client = await connect(t, customer, revision)
    const list = async (args: object) => (await call<RunList>(client, 'list_runs', args)).body
    t.same(await list({}), { object: 'list', data: [], has_more: false, next_cursor: null })

    for (const outcome of ['success', 'provider_error', 'success'])
      await call(client, 'run_model', sandbox({ outcome }))
    const all = await list({})
    t.same(all, (await customer.send('/v1/runs')).body)
    t.equal(all.data.length, 3)
    const first = await list({ limit: 2 })
    t.same(first.data, all.data.slice(0, 2))
    const rest = await list({ limit: 2, cursor: first.next_cursor })
    t.same(rest, { object: 'list', data: all.data.slice(2), has_more: false, next_cursor: null })
    t.same((await list({ status: 'failed' })).data, all.data.slice(1, 2))
    t.same((await list({ model: 'nano-banana-2' })).data, [])
    t.same(await list({ limit: null, cursor: null, status: null, model: null }), all, 'null means absent')
  })

  t.test(`${revision}: the lines of the statement are those of the ledger`, async t => {
    const customer = await openAccount(service, { tester: true })
    const client = await connect(t, customer, revision)
    const list = async (args: object) => (await call<LedgerList>(client, 'get_statement', args)).body
    await call(client, 'run_model', sandbox({ outcome: 'provider_error' }))
    const all = await list({})
    t.same(all, (await customer.send('/v1/ledger')).body)
    t.same(
      all.data.map(({ kind }) => kind),
      ['refund', 'debit', 'grant'],
    )
    t.same((await list({ kind: 'debit' })).data, all.data.slice(1, 2))
    t.same((await list({ from: '2020-01-01', to: null })).data, all.data)
    t.same((await list({ to: '2020-01-01' })).data, [])
    const first = await list({ limit: 2 })
    t.same((await list({ limit: 2, cursor: first.next_cursor })).data, all.data.slice(2))
  })

  t.test(`${revision}: a file is sent to a grant’s URL, and used`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const wanted = { filename: 'lake.png', mime_type: 'image/png', folder_path: 'photos' }
    const { body: grant } = await call<PresignedUpload>(client, 'create_upload', wanted)
    const png = await files.picture('png')
    const put = await fetch(grant.presigned_url, { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: png })
    t.equal(put.status, 200)
    const input = { prompt: 'make it winter', image_url: grant.cdn_url }
    const { body } = await call<Run>(client, 'run_model', { ...picture, input })
    t.match(body, { status: 'completed', endpoint: 'nano-banana-2-i2i' })
    t.match((await customer.send(`/v1/uploads/${grant.id}`)).body, { ...wanted, url: grant.cdn_url })
  })
}
