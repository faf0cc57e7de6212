import t from 'tap'
import { type ModelFamily, ModelList } from '../../schemas/api/model.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import type { Client } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'

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
