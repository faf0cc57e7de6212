import t from 'tap'
import type { ParametersSchema } from '../../../schemas/catalog.ts'
import { interpretInput, placeIn } from '../../../src/domain/catalog/inputs.ts'

const schemaOf = (properties: ParametersSchema['properties'], required: string[] = []): ParametersSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

t.test('an empty text chooses nothing, unless it is a choice or the parameter always has a value', async t => {
  const choice = { type: 'string', enum: ['low', 'high'] }
  const given = { level: '' }
  t.strictSame(interpretInput(given, schemaOf({ level: choice })), {})
  t.strictSame(interpretInput(given, schemaOf({ level: { ...choice, default: 'low' } })), given)
  t.strictSame(interpretInput(given, schemaOf({ level: choice }, ['level'])), given)
  t.strictSame(interpretInput(given, schemaOf({ level: { type: 'string', enum: ['', 'low'] } })), given)
  t.strictSame(interpretInput(given, schemaOf({ level: { type: 'string' } })), given)
})

t.test('a number is the level that is written like it, unless it is a choice itself', async t => {
  const texts = schemaOf({ level: { enum: ['1', '2'] } })
  t.strictSame(interpretInput({ level: 2 }, texts), { level: '2' })
  for (const level of [3, 2.5, true, '2', null]) t.strictSame(interpretInput({ level }, texts), { level })
  t.strictSame(interpretInput({ level: 2 }, schemaOf({ level: { enum: ['1', 1, '2', 2] } })), { level: 2 })
})

t.test('the prompt is the text of a model that has only a text', async t => {
  const speech = schemaOf({ text: {} })
  t.strictSame(interpretInput({ prompt: 'hello', seed: 1 }, speech), { text: 'hello', seed: 1 })
  t.equal(placeIn({ prompt: '' }, speech, '/text'), '/prompt')
  for (const [input, schema] of [
    [{ prompt: 'hello', text: 'bye' }, speech],
    [{ prompt: 'hello' }, schemaOf({ text: {}, prompt: {} })],
    [{ prompt: 'hello' }, schemaOf({})],
  ] as const) {
    t.strictSame(interpretInput(input, schema), input)
    t.equal(placeIn(input, schema, '/text'), '/text')
  }
})

t.test('other members stay as they are', async t => {
  const input = JSON.parse('{ "constructor": "", "__proto__": "", "prompt": "" }')
  t.strictSame(Object.entries(interpretInput(input, schemaOf({ prompt: { type: 'string' } }))), Object.entries(input))
})
