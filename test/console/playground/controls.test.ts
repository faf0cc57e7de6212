import t from 'tap'
import { shipped } from '../../../src/catalog/shipped.ts'
import {
  controlsOf,
  type FormEndpoint,
  movedTo,
  readInput,
  withoutDefaults,
} from '../../../src/console/playground/controls.ts'
import { compileFillingCheck } from '../../../src/services/schema-check.ts'

type Input = Record<string, unknown>

/** The families with their endpoints, as forms see them. */
const families = shipped.map(({ id, endpoints }) => ({
  id,
  endpoints: endpoints.map(
    ({ id, kind, parametersSchema, pricing: { quantities, multipliers } }): FormEndpoint => ({
      ...{ id, kind, parameters_schema: parametersSchema },
      pricing: { quantities, multipliers: multipliers as Record<string, Record<string, number>> },
    }),
  ),
}))

/** What a browser sends for a form that nobody has changed. */
const sentBy = (endpoint: FormEndpoint, family: FormEndpoint[], input: Input) => {
  const controls = controlsOf(endpoint, family, input)
  const fields = new Map(
    controls.flatMap(({ name, kind, value, options }) => {
      if (kind === 'switch') return value === 'on' ? [[name, 'on'] as const] : []
      if (options && !options.some(option => option.value === value)) return []
      // Browsers end the lines of a textarea with both characters.
      return [[name, value.replaceAll('\n', '\r\n')] as const]
    }),
  )
  return readInput(endpoint, name => fields.get(name))
}

for (const { id, endpoints } of families)
  for (const endpoint of endpoints)
    t.test(endpoint.id, t => {
      const check = compileFillingCheck(endpoint.parameters_schema)
      const filled = (input: Input) => {
        const copy = structuredClone(input)
        return { faults: check(copy), input: copy }
      }
      const { examples = [], properties } = endpoint.parameters_schema
      t.ok(examples.length > 0)
      for (const example of examples) {
        const { input, faults } = sentBy(endpoint, endpoints, example)
        t.same(faults, {}, 'the form can be read')
        t.same(filled(input), { faults: [], input: filled(example).input }, 'the form sends the example')
        t.same(withoutDefaults(endpoint, filled(input).input), withoutDefaults(endpoint, filled(example).input))
      }
      t.same(sentBy(endpoint, endpoints, {}).input, {}, 'a form that is not filled in sends only defaults')
      for (const [name, declared] of Object.entries(properties)) {
        const { default: byDefault } = declared
        if (byDefault === undefined) continue
        t.same(sentBy(endpoint, endpoints, { [name]: byDefault }).input, {}, `${name} is at its default`)
      }
      const controls = controlsOf(endpoint, endpoints, {})
      t.equal(new Set(controls.map(({ name }) => name)).size, controls.length, 'no parameter has two controls')
      for (const { name, label, description } of controls) {
        t.not(label, '', name)
        t.not(description, '', name)
      }
      const single = Object.entries(properties).filter(([, { enum: values }]) => (values as unknown[])?.length === 1)
      const missing = Object.keys(properties).filter(name => !controls.some(control => control.name === name))
      t.same(
        missing,
        single.map(([name]) => name),
        `${id} shows every parameter that can be chosen`,
      )
      t.end()
    })

const endpointOf = (id: string) => {
  const found = families.flatMap(({ endpoints }) => endpoints).find(endpoint => endpoint.id === id)
  if (!found) throw new Error(`there is no ${id}`)
  return found
}

const controlIn = (id: string, name: string, input: Input = {}) => {
  const endpoint = endpointOf(id)
  const family = families.find(({ endpoints }) => endpoints.includes(endpoint))
  const found = controlsOf(endpoint, family?.endpoints ?? [], input).find(control => control.name === name)
  if (!found) throw new Error(`${id} has no control for ${name}`)
  return found
}

t.test('controls follow the schema', async t => {
  const kinds: Record<string, [string, string]> = {
    'a prompt': ['nano-banana-2-t2i prompt', 'prose'],
    'an aspect ratio': ['nano-banana-2-t2i aspect_ratio', 'chips'],
    'three short words': ['nano-banana-2-t2i resolution', 'segments'],
    'a small number': ['nano-banana-2-t2i num_images', 'stepper'],
    'a large number': ['nano-banana-2-t2i seed', 'number'],
    'a fraction': ['kling-3-pro-t2v cfg_scale', 'number'],
    'a choice of many': ['eleven-v3-t2a voice', 'select'],
    'a boolean': ['nano-banana-2-t2i enable_web_search', 'switch'],
    'a boolean that prices know': ['veo-3-1-t2v generate_audio', 'switch'],
    'a boolean without a default': ['gpt-6-1-terra-t2t parallel_tool_calls', 'segments'],
    'an image': ['nano-banana-2-i2i image_url', 'file'],
    'an image for another endpoint': ['nano-banana-2-t2i image_url', 'file'],
    'a video for another endpoint': ['veo-3-1-t2v video_url', 'file'],
    'a conversation': ['gpt-6-1-terra-t2t messages', 'json'],
    'a short text': ['eleven-v3-t2a language_code', 'text'],
  }
  for (const [what, [control, kind]] of Object.entries(kinds)) {
    const [id = '', name = ''] = control.split(' ')
    t.equal(controlIn(id, name).kind, kind, what)
  }
  const ratios = controlIn('nano-banana-2-t2i', 'aspect_ratio').options ?? []
  t.same(
    ratios.find(({ value }) => value === '16:9'),
    { value: '16:9', label: '16:9', shape: { width: 16, height: 9 } },
  )
  const order = ratios.map(({ value }) => value).join(' ')
  t.match(order, /^auto 1:1 5:4 4:3 3:2 16:9 .*4:5 3:4 2:3 9:16/, 'square, wider and wider, higher and higher')
  t.equal(controlIn('nano-banana-2-t2i', 'image_url').hint, 'optional, makes this image to image')
  t.equal(controlIn('ltx-2-3-pro-i2v', 'end_image_url').label, 'Last image')
})

t.test('what the person writes is read as its type', async t => {
  const read = (id: string, fields: Input) => readInput(endpointOf(id), name => fields[name] as string | undefined)
  t.match(read('veo-3-1-t2v', { prompt: 'a', duration: '4', generate_audio: 'on' }).input, { prompt: 'a', duration: 4 })
  t.same(read('veo-3-1-t2v', { prompt: 'a', duration: '8', auto_fix: 'on' }).input, {
    prompt: 'a',
    generate_audio: false,
  })
  t.match(read('nano-banana-2-t2i', { seed: 'many' }).input, { seed: 'many' }, 'the schema finds the fault')
  t.match(read('kling-3-pro-t2v', { negative_prompt: '' }).input, { negative_prompt: '' })
  t.match(read('gpt-6-1-terra-t2t', { tool_choice: 'none' }).input, { tool_choice: 'none' })
  t.match(read('gpt-6-1-terra-t2t', { messages: '[{"role":"user"}]' }).input, { messages: [{ role: 'user' }] })
  t.same(read('gpt-6-1-terra-t2t', { messages: '[{' }), {
    input: {},
    faults: { messages: 'is not JSON of at most 32 levels' },
  })
  t.match(read('nano-banana-2-t2i', { image_url: 'https://example.com/a.png' }).input, {
    image_url: 'https://example.com/a.png',
  })
})

t.test('an input moves to another endpoint of its family', async t => {
  const input = { prompt: 'a', aspect_ratio: 'auto', num_images: 2, seed: 1, size: '1024x1024' }
  t.same(movedTo(endpointOf('flux-2-pro-i2i'), input), { prompt: 'a', seed: 1 })
})
