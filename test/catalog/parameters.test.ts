import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { compileCheck } from '../../src/services/schema-check.ts'
import { endpoints, filler, type Input, inputsOf } from './inputs.ts'

/** Parameters without a default, because leaving them out has a meaning. */
const alwaysMayStayUnset = ['seed', 'end_image_url', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format']
const mayStayUnset = new Map([
  ['nano-banana-2', ['thinking_level']],
  ['pixverse-v5', ['style']],
  ['eleven-v3', ['language_code']],
  ['claude-haiku-4-5', ['top_k']],
])

t.test('schemas are JSON Schema 2020-12, and strict', async t => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, formats: { uri: true } })
  for (const [, { id, parametersSchema }] of endpoints) {
    const document = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...parametersSchema }
    t.ok(ajv.validateSchema(document), `${id} ${ajv.errorsText()}`)
    t.doesNotThrow(() => ajv.compile(document), id)
  }
})

t.test('each parameter has a title and a description', async t => {
  for (const [, { id, parametersSchema }] of endpoints)
    for (const [name, { title, description }] of Object.entries(parametersSchema.properties)) {
      t.match(title, /^[A-Z][^.]*$/, `${id} ${name}`)
      t.match(description, /^[A-Z].*\.$/, `${id} ${name}`)
    }
})

t.test('each parameter has bounds', async t => {
  for (const [, { id, parametersSchema }] of endpoints)
    for (const [name, declared] of Object.entries(parametersSchema.properties)) {
      const bounds = {
        string: ['minLength', 'maxLength'],
        integer: ['minimum', 'maximum'],
        number: ['minimum', 'maximum'],
        array: ['minItems', 'maxItems'],
      }
      const needed = declared['enum'] ? [] : (bounds[declared['type'] as 'string'] ?? [])
      for (const bound of needed) t.type(declared[bound], 'number', `${id} ${name} ${bound}`)
    }
})

t.test('an optional parameter has a default, and its default is valid', async t => {
  for (const [family, { id, parametersSchema }] of endpoints)
    for (const [name, declared] of Object.entries(parametersSchema.properties)) {
      const alternatives = parametersSchema.oneOf?.flatMap(({ required }) => required) ?? []
      const unset = [...alwaysMayStayUnset, ...alternatives, ...(mayStayUnset.get(family.id) ?? [])]
      const mayBeUnset = unset.includes(name)
      const hasNone = parametersSchema.required?.includes(name) || mayBeUnset
      t.equal(declared['default'] === undefined, hasNone, `${id} ${name}`)
      if (!hasNone) t.same(compileCheck(declared)(declared['default']), [], `${id} ${name}`)
    }
})

t.test('prompts are required, images for image-to-*, and videos for video-to-*', async t => {
  for (const [family, { id, kind, mode, parametersSchema }] of endpoints) {
    const speaks = family.outputType === 'audio' && mode === 'sync'
    t.ok(speaks ? 'text' in parametersSchema.properties : 'prompt' in parametersSchema.properties, id)
    const files = kind.startsWith('i2') ? ['image_url'] : kind.startsWith('v2') ? ['video_url'] : []
    for (const name of ['image_url', 'video_url'])
      t.equal(name in parametersSchema.properties, files.includes(name), `${id} ${name}`)
    const isText = kind === 't2t'
    const required = speaks ? ['text'] : isText ? [] : ['prompt', ...files]
    t.same(parametersSchema.required, required, id)
    const alternatives = isText ? [{ required: ['prompt'] }, { required: ['messages'] }] : undefined
    t.same(parametersSchema.oneOf, alternatives, id)
  }
})

t.test('an image is an http(s) or a data: URL', async t => {
  for (const [, { id, parametersSchema }] of endpoints) {
    const declared = parametersSchema.properties['image_url']
    if (!declared) continue
    const check = compileCheck(declared)
    for (const url of ['http://a.example/b', 'https://a.example/b.png?c', 'data:image/png;base64,AAAA'])
      t.same(check(url), [], `${id} ${url}`)
    for (const url of ['', 'b.png', '/b.png', 'ftp://a.example/b', 'file:///etc/passwd', 'javascript:b', 7])
      t.not(check(url).length, 0, `${id} ${url}`)
    t.same(check(`data:${'A'.repeat(199_995)}`), [], id)
    t.not(check(`data:${'A'.repeat(199_996)}`).length, 0, id)
  }
})

t.test('a last frame is an image, and a video is no data: URL', async t => {
  const found = endpoints.flatMap(([, { id, parametersSchema }]) =>
    ['end_image_url', 'video_url'].flatMap(name => {
      const declared = parametersSchema.properties[name]
      return declared ? [{ id, name, check: compileCheck(declared) }] : []
    }),
  )
  t.same(
    found.map(({ id, name }) => `${id} ${name}`),
    [
      ...['veo-3-1-v2v video_url', 'veo-3-1-fast-v2v video_url', 'kling-3-pro-i2v end_image_url'],
      ...['kling-2-6-i2v end_image_url', 'ltx-2-3-pro-i2v end_image_url'],
    ],
  )
  for (const { id, name, check } of found) {
    t.same(check('https://a.example/b'), [], id)
    t.equal(check('data:video/mp4;base64,AAAA').length === 0, name === 'end_image_url', id)
  }
})

t.test('the examples are valid: the first is minimal, the second has most parameters', async t => {
  for (const [, { id, parametersSchema }] of endpoints) {
    const { properties, required, examples = [] } = parametersSchema
    const check = compileCheck(parametersSchema)
    for (const example of examples) t.same(check(example), [], id)
    const [least, most] = examples as [Input, Input]
    t.same(Object.keys(least), parametersSchema.oneOf ? ['prompt'] : required, id)
    t.ok(Object.keys(most).length > Object.keys(properties).length / 2, id)
    t.equal(examples.length, 2, id)
  }
})

t.test('unknown parameters, and missing required ones, are refused', async t => {
  for (const [, { id, parametersSchema }] of endpoints) {
    const check = compileCheck(parametersSchema)
    const [least] = parametersSchema.examples as [Input]
    t.match(
      check({ ...least, surprise: 1 }),
      [{ path: '/surprise', message: /^is unknown; expected one of [a-z]/ }],
      id,
    )
    for (const name of parametersSchema.required ?? []) {
      const { [name]: _, ...rest } = least
      t.same(check(rest), [{ path: `/${name}`, message: 'is required' }], id)
    }
  }
})

t.test('valid inputs are accepted, and completed with every default', async t => {
  for (const [, { id, parametersSchema }] of endpoints) {
    const fill = filler(parametersSchema)
    const defaults = Object.entries(parametersSchema.properties).filter(([, declared]) => 'default' in declared)
    fc.assert(
      fc.property(inputsOf(parametersSchema), input => {
        const filled = fill(input)
        return defaults.every(([name, declared]) =>
          Object.is(filled[name], name in input ? input[name] : declared['default']),
        )
      }),
      { numRuns: 50 },
    )
    t.pass(id)
  }
})

t.test('nano-banana-2 accepts the specified inputs, with or without an image', async t => {
  const [t2i, i2i] = endpoints.filter(([family]) => family.id === 'nano-banana-2').map(([, endpoint]) => endpoint)
  const { properties } = t2i?.parametersSchema ?? {}
  t.match(properties, {
    num_images: { type: 'integer', minimum: 1, maximum: 4, default: 1 },
    enable_web_search: { type: 'boolean', default: false },
    resolution: { enum: ['1K', '2K', '4K'], default: '1K' },
    aspect_ratio: { default: 'auto' },
    output_format: { enum: ['png', 'jpeg', 'webp'], default: 'png' },
    thinking_level: { enum: ['minimal', 'high'] },
    safety_tolerance: { type: 'string', enum: ['1', '2', '3', '4', '5', '6'], default: '4' },
    seed: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  })
  t.same(
    new Set(properties?.['aspect_ratio']?.['enum'] as string[]),
    new Set('auto 1:1 16:9 9:16 4:3 3:4 3:2 2:3 4:5 5:4 21:9 4:1 1:4 8:1 1:8'.split(' ')),
  )
  const { image_url, ...others } = i2i?.parametersSchema.properties ?? {}
  t.ok(image_url)
  t.same(others, properties)
  t.same(i2i?.pricing, t2i?.pricing)
})
