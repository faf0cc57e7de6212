import t from 'tap'
import { Binding } from '../../schemas/binding.ts'
import type { Endpoint } from '../../schemas/catalog.ts'
import { bindings, bindingsOf } from '../../src/catalog/shipped.ts'
import { listPrice, quantitiesOf } from '../../src/domain/routing/list-price.ts'
import { upstreamParameters } from '../../src/domain/routing/upstream-parameters.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { endpoints, example, type Input, samplesOf } from './inputs.ts'

const byId = new Map(endpoints.map(([, endpoint]) => [endpoint.id, endpoint]))

const honours = (binding: Binding, input: Input) => 'parameters' in upstreamParameters(binding, input)

const propertiesOf = ({ parametersSchema }: Endpoint) => Object.entries(parametersSchema.properties)

t.test('each binding matches its schema, and is of an endpoint that ships', async t => {
  const check = compileCheck(Binding)
  for (const binding of bindings) {
    t.same(check(binding), [], `${binding.endpoint} ${binding.model}`)
    t.ok(byId.has(binding.endpoint), binding.endpoint)
  }
})

t.test('each endpoint has a binding, and no model twice at a provider', async t => {
  for (const [, { id }] of endpoints) {
    const names = bindingsOf(id).map(({ provider, model }) => `${provider} ${model}`)
    t.ok(names.length > 0, id)
    t.equal(new Set(names).size, names.length, id)
  }
})

t.test('each parameter has a rule in some binding, and each rule a parameter', async t => {
  for (const [, endpoint] of endpoints) {
    const names = propertiesOf(endpoint).map(([name]) => name)
    const ruled = new Set(bindingsOf(endpoint.id).flatMap(({ parameters }) => parameters.flatMap(({ from }) => from)))
    t.same(
      names.filter(name => !ruled.has(name)),
      [],
      endpoint.id,
    )
  }
})

t.test('values of rules are among those of the family', async t => {
  for (const binding of bindings)
    for (const { from, values = {}, only = [], omit = [] } of binding.parameters) {
      const declared = byId.get(binding.endpoint)?.parametersSchema.properties[String(from)]
      if (Array.isArray(from) || !declared?.['enum']) continue
      const known = (declared['enum'] as unknown[]).map(String)
      const other = [...Object.keys(values), ...[...only, ...omit].map(String)].filter(value => !known.includes(value))
      // Rules that endpoints share may know a value that one of them lacks.
      t.same(
        other.filter(value => !['auto', 'match_input_image', 'webp'].includes(value)),
        [],
        `${binding.endpoint} ${from}`,
      )
    }
})

t.test('the preferred binding honours both examples', async t => {
  for (const [, endpoint] of endpoints)
    for (const index of [0, 1] as const) {
      const input = example(endpoint, index)
      const [preferred] = bindingsOf(endpoint.id)
      const isHonoured = preferred !== undefined && honours(preferred, input)
      // At fal, one model makes the films in 768p and the other those in 1080p.
      const another = endpoint.id === 'hailuo-2-3-t2v' && bindingsOf(endpoint.id).some(each => honours(each, input))
      t.ok(isHonoured || another, `${endpoint.id} ${index}`)
    }
})

t.test('each provider honours the smallest request', async t => {
  for (const [, endpoint] of endpoints)
    for (const provider of new Set(bindingsOf(endpoint.id).map(each => each.provider))) {
      const own = bindingsOf(endpoint.id).filter(each => each.provider === provider)
      // The default keeps the ratio of the input image, which Replicate cannot.
      const keeping = ['qwen-image-i2i', 'veo-3-1-i2v', 'veo-3-1-fast-i2v']
      const expected = provider !== 'replicate' || !keeping.includes(endpoint.id)
      t.equal(
        own.some(each => honours(each, example(endpoint, 0))),
        expected,
        `${endpoint.id} ${provider}`,
      )
    }
})

t.test('some binding honours each value of a parameter, given the defaults of the others', async t => {
  for (const [, endpoint] of endpoints)
    for (const [name, declared] of propertiesOf(endpoint))
      for (const value of (declared['enum'] as unknown[] | undefined) ?? []) {
        const input = { ...example(endpoint, 0), [name]: value }
        t.ok(
          bindingsOf(endpoint.id).some(each => honours(each, input)),
          `${endpoint.id} ${name} ${value}`,
        )
      }
})

t.test('combinations that every vendor refuses are not honoured', async t => {
  const refused: [endpoint: string, input: Input][] = [
    ['hailuo-2-3-t2v', { resolution: '1080p', duration: 10 }],
    ['hailuo-2-3-i2v', { resolution: '1080p', duration: 10 }],
    ['gpt-image-2-6-t2i', { background: 'transparent', output_format: 'jpeg' }],
    ['gpt-image-2-6-i2i', { output_format: 'png', output_compression: 50 }],
  ]
  for (const [id, values] of refused) {
    const endpoint = byId.get(id) as Endpoint
    for (const binding of bindingsOf(id))
      t.notOk(honours(binding, { ...example(endpoint, 0), ...values }), `${id} ${binding.model}`)
  }
})

t.test('the second provider takes what the first one refuses', async t => {
  const endpoint = byId.get('pixverse-v5-t2v') as Endpoint
  const input = { ...example(endpoint, 0), resolution: '1080p', duration: 8 }
  t.same(
    bindingsOf(endpoint.id)
      .filter(each => honours(each, input))
      .map(({ provider }) => provider),
    ['replicate'],
  )
})

t.test('each binding has a price list, or a reason why it has none', async t => {
  for (const { endpoint, model, price, unpriced } of bindings)
    t.equal(Number(price !== undefined) + Number(unpriced !== undefined), 1, `${endpoint} ${model}`)
})

t.test(
  'a price list without units that only a provider counts tells the cost of whatever its binding honours',
  async t => {
    const [priced, metered] = [new Set<string>(), new Set<string>()]
    for (const [, endpoint] of endpoints)
      for (const { price, ...binding } of bindingsOf(endpoint.id))
        for (const input of price ? samplesOf(endpoint) : []) {
          if (!price || !honours({ ...binding, price }, input)) continue
          const cost = listPrice(price, quantitiesOf(input, Number(input['num_images'] ?? 1)), input)
          const isMetered = price.units.some(({ unit }) => /token/i.test(unit))
          if (isMetered) metered.add(endpoint.id)
          else priced.add(endpoint.id)
          t.equal(cost === undefined, isMetered, `${endpoint.id} ${binding.model} ${JSON.stringify(input)}`)
        }
    t.ok(priced.size > 25 && metered.size > 5)
  },
)

t.test('videos and last frames go to the parameters that their providers have for them, as files', async t => {
  const found = bindings.flatMap(({ endpoint, model, parameters }) =>
    parameters
      .filter(({ from }) => from === 'video_url' || (from === 'end_image_url' && endpoint.endsWith('-i2v')))
      .map(({ to, as }) => `${endpoint} ${model} ${to} ${as}`),
  )
  t.same(found, [
    'veo-3-1-v2v fal-ai/veo3.1/extend-video video_url file',
    'veo-3-1-fast-v2v fal-ai/veo3.1/fast/extend-video video_url file',
    'kling-3-pro-i2v fal-ai/kling-video/v3/pro/image-to-video end_image_url file',
    'kling-2-6-i2v fal-ai/kling-video/v2.6/pro/image-to-video end_image_url file',
    'ltx-2-3-pro-i2v fal-ai/ltx-2.3/image-to-video end_image_url file',
  ])
})

t.test('tokens that OpenAI reads from its cache are cheaper', async t => {
  const [binding] = bindingsOf('gpt-6-1-terra-t2t')
  const units = { prompt_tokens: 1000, 'prompt_tokens_details.cached_tokens': 800, completion_tokens: 100 }
  t.equal(binding?.price && listPrice(binding.price, units, {}), 200 + 800 * 0.05 + 100 * 5)
})
