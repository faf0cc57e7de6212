import t from 'tap'
import { type ModelFamily, ModelList } from '../../schemas/api/model.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import type { Client } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startService(t)
const customer = await openAccount(service)
const tester = await openAccount(service, { tester: true })

const families = async (client: Client): Promise<Record<string, ModelFamily>> => {
  const { body } = await client.send<ModelList>('/v1/models')
  return Object.fromEntries(body.data.map(family => [family.id, family]))
}

t.test('the catalog is a list of families', async t => {
  for (const client of [customer, tester]) {
    const { status, body } = await client.send<ModelList>('/v1/models')
    t.equal(status, 200)
    t.same(compileCheck(ModelList)(body), [])
  }
})

t.test('a family holds its endpoints and their common fields', async t => {
  const { 'nano-banana-2': family } = await families(customer)
  t.match(family, {
    id: 'nano-banana-2',
    object: 'model_family',
    aliases: ['nano'],
    output_type: 'image',
    status: 'public',
    mode: 'sync',
  })
  t.same(
    family?.endpoints.map(({ id, kind, mode, status }) => ({ id, kind, mode, status })),
    ['t2i', 'i2i'].map(kind => ({ id: `nano-banana-2-${kind}`, kind, mode: 'sync', status: 'public' })),
  )
})

t.test('every family has at least one endpoint, named after it and its kind', async t => {
  for (const family of Object.values(await families(tester))) {
    t.ok(family.endpoints.length > 0, family.id)
    for (const { id, kind } of family.endpoints) t.equal(id, `${family.id}-${kind}`)
  }
})

t.test('the price range spans the cheapest to the most expensive input', async t => {
  const { 'nano-banana-2': nano, sandbox } = await families(tester)
  // One 1K picture costs 10; four 4K pictures with a search cost 10 × 4 × 2 + 1.5.
  t.same(nano?.credits_range, { min: 10, max: 81.5 })
  t.same(sandbox?.credits_range, { min: 1, max: 1 })
})

t.test('prices are in credits', async t => {
  const { 'nano-banana-2': family } = await families(customer)
  t.same(family?.endpoints[0]?.pricing, {
    base_credits: 10,
    quantities: ['num_images'],
    multipliers: { resolution: { '1K': 1, '2K': 1.5, '4K': 2 } },
    surcharges: [{ when: { parameter: 'enable_web_search', equals: true }, usd: 0.015, credits: 1.5 }],
  })
})

t.test('parameter schemas are closed and have descriptions and defaults', async t => {
  const { 'nano-banana-2': family } = await families(customer)
  const schema = family?.endpoints[0]?.parameters_schema
  t.equal(schema?.additionalProperties, false)
  t.same(schema?.required, ['prompt'])
  for (const [name, parameter] of Object.entries(schema?.properties ?? {})) {
    t.type(parameter['title'], 'string', name)
    t.type(parameter['description'], 'string', name)
  }
  t.equal(schema?.properties['resolution']?.['default'], '1K')
})

t.test('only testers see test families', async t => {
  t.equal((await families(tester))['sandbox']?.status, 'test')
  t.notOk('sandbox' in (await families(customer)))
  const request = { model: 'sandbox', input: { prompt: 'hello' } }
  t.equal((await tester.run(request)).status, 200)
  const refused = await customer.run(request)
  const absent = await customer.run({ ...request, model: 'sandbux' })
  t.equal(refused.status, 404)
  t.equal(refused.body.error.code, 'model_not_found')
  t.equal(refused.body.error.message, absent.body.error.message.replace('sandbux', 'sandbox'))
  t.equal(await customer.balance(), 100)
})

t.test('the list can be limited to one type of output', async t => {
  const all = (await customer.send<ModelList>('/v1/models')).body.data
  for (const type of ['image', 'video', 'audio', 'text']) {
    const { body } = await customer.send<ModelList>(`/v1/models?output_type=${type}`)
    t.ok(body.data.length >= 3, type)
    t.same(
      body.data,
      all.filter(({ output_type }) => output_type === type),
    )
  }
  const { status, body } = await customer.send('/v1/models?output_type=smell')
  t.equal(status, 400)
  t.match(body.error.errors, [{ path: '/output_type', message: 'must be one of image, video, audio, text' }])
})

t.test('a family is found by its id, an alias or an endpoint', async t => {
  const { 'nano-banana-2': family } = await families(customer)
  for (const name of ['nano-banana-2', 'nano', 'nano-banana-2-i2i'])
    t.same((await customer.send<ModelFamily>(`/v1/models/${name}`)).body, family, name)
  for (const name of ['nano-banana', 'NANO', 'sandbox', 'sandbox-t2t', '__proto__', '%00']) {
    const { status, body } = await customer.send(`/v1/models/${name}`)
    t.equal(status, 404, name)
    t.match(body.error, { code: 'model_not_found', message: /GET \/v1\/models returns the models/ })
  }
})

t.test('a withdrawn model is absent, and the error names the one that replaces it', async t => {
  for (const model of ['sora-2', 'sora-2-i2v']) {
    const { status, body } = await customer.run({ model, input: { prompt: 'a dog' } })
    t.equal(status, 404)
    t.match(body.error, { code: 'model_not_found', replaced_by: 'gemini-omni-flash', message: /withdrawn/ })
    t.match((await customer.send(`/v1/models/${model}`)).body.error, { replaced_by: 'gemini-omni-flash' })
  }
  t.notHas((await customer.send('/v1/models/sora-3')).body.error, { replaced_by: String })
})

t.test('an endpoint that only testers may see is no name for others', async t => {
  const [public_, all] = [(await families(customer))['ltx-2-3-pro'], (await families(tester))['ltx-2-3-pro']]
  t.equal(Number(all?.endpoints.length), Number(public_?.endpoints.length) + 1)
  for (const [client, family] of [
    [customer, public_],
    [tester, all],
    [customer, public_],
  ] as const)
    t.same((await client.send<ModelFamily>('/v1/models/ltx-2-3-pro')).body, family)
  t.equal((await tester.send('/v1/models/ltx-2-3-pro-i2v')).status, 200)
  t.equal((await customer.send('/v1/models/ltx-2-3-pro-i2v')).status, 404)
})

t.test('clients that hold the current list or family get 304', async t => {
  for (const path of ['/v1/models', '/v1/models?output_type=text', '/v1/models/nano']) {
    const { headers } = await customer.send(path)
    const etag = String(headers.get('ETag'))
    t.match(headers.get('Cache-Control'), /^private, no-cache$/)
    t.match(headers.get('Vary'), /Authorization/)
    const again = await customer.send(path, { headers: { 'If-None-Match': etag } })
    t.equal(again.status, 304)
    t.equal(again.text, '')
    const asks = async (tags: string) => (await customer.send(path, { headers: { 'If-None-Match': tags } })).status
    t.equal(await asks(`"other", W/${etag}`), 304)
    t.equal(await asks('"other"'), 200)
  }
  const of = async (client: Client) => (await client.send('/v1/models')).headers.get('ETag')
  t.not(await of(customer), await of(tester), 'testers see another list')
})

t.test('lists and families are compressed for clients that accept it', async t => {
  const plain = await customer.sendRaw('/v1/models', { headers: { 'Accept-Encoding': 'identity' } })
  t.equal(plain.headers.get('Content-Encoding'), null)
  const zipped = await fetch(`${customer.url}/v1/models`, {
    headers: { Authorization: `Bearer ${customer.apiKey}`, 'Accept-Encoding': 'gzip' },
  })
  t.equal(zipped.headers.get('Content-Encoding'), 'gzip')
  t.equal(await zipped.text(), plain.text)
  t.ok(Number(zipped.headers.get('Content-Length')) * 4 < plain.text.length)
  t.not(zipped.headers.get('ETag'), plain.headers.get('ETag'))
})

t.test('a change of the catalog changes the list', async t => {
  const caller = { kind: 'operator', name: 'test' } as const
  const { headers } = await customer.send('/v1/models')
  unwrap(await service.core.services.catalog.withdraw(caller, 'z-image-turbo'))
  const etag = String(headers.get('ETag'))
  const { body } = await until('the family is gone', async () => {
    const reply = await customer.send<ModelList>('/v1/models', { headers: { 'If-None-Match': etag } })
    return reply.status === 200 ? reply : undefined
  })
  t.notOk(body.data.some(({ id }) => id === 'z-image-turbo'))
  t.equal((await customer.send('/v1/models/z-image-turbo')).status, 404)
})
