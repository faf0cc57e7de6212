import t from 'tap'
import type { Endpoint, Family, PriceRule } from '../../../schemas/catalog.ts'
import { findFault } from '../../../src/domain/catalog/validity.ts'
import { endpoint, family, parameters, priceRule } from '../../support/catalog-samples.ts'

const lumen = (...endpoints: ReturnType<typeof endpoint>[]): Family => family('lumen', {}, endpoints)
const priced = (pricing: Partial<PriceRule>, properties: Endpoint['parametersSchema']['properties'] = {}): Family =>
  lumen(endpoint('t2i', { pricing: priceRule(pricing), parametersSchema: parameters(properties) }))

const resolution = { type: 'string', enum: ['1K', '2K'], default: '1K' }

t.test('a valid family has no fault', async t => {
  t.equal(findFault(lumen(endpoint('t2i'), endpoint('i2i')), [family('umbra', { aliases: ['shade'] })]), undefined)
  const rule = { multipliers: { resolution: { '1K': 1_000_000, '2K': 1_500_000 } } }
  t.equal(findFault(priced(rule, { resolution }), []), undefined)
})

t.test('a name belongs to one family', async t => {
  const others = [family('umbra', { aliases: ['shade'] })]
  const clashes: [Partial<Family>, string][] = [
    [{ id: 'umbra' }, 'umbra'],
    [{ id: 'shade' }, 'shade'],
    [{ aliases: ['glow', 'umbra'] }, 'umbra'],
    [{ aliases: ['shade'] }, 'shade'],
  ]
  for (const [differences, name] of clashes)
    t.equal(
      findFault(family('lumen', differences), others),
      `${differences.id ?? 'lumen'}: the name ${name} belongs to another family`,
    )
})

t.test('each kind has one endpoint, whose id ends with the kind', async t => {
  t.equal(findFault(lumen(endpoint('t2i'), endpoint('t2i')), []), 'lumen has two endpoints of one kind')
  t.equal(
    findFault(lumen(endpoint('t2i'), endpoint('i2i', { id: 'lumen-edit' })), []),
    'lumen-edit: the id must be lumen-i2i',
  )
})

t.test('a price may depend only on existing parameters', async t => {
  const fault = 'lumen-t2i: the price depends on size, which is not a parameter'
  const when = { parameter: 'size', equals: true }
  t.equal(findFault(priced({ quantities: ['size'] }), []), fault)
  t.equal(findFault(priced({ multipliers: { size: { '1K': 1 } } }), []), fault)
  t.equal(findFault(priced({ surcharges: [{ when, usdMicros: 1 }] }), []), fault)
})

t.test('a parameter with multipliers needs one for every value', async t => {
  const multipliers = { resolution: { '1K': 1_000_000 } }
  t.equal(
    findFault(priced({ multipliers }, { resolution: { type: 'string' } }), []),
    'lumen-t2i: resolution has multipliers and so needs an enum',
  )
  t.equal(findFault(priced({ multipliers }, { resolution }), []), 'lumen-t2i: resolution 2K has no multiplier')
})

t.test('a quantity is bounded, positive and a multiple of one millionth', async t => {
  const count = { type: 'integer', minimum: 1, maximum: 4 }
  const quantity = (declared: Record<string, unknown>) =>
    findFault(priced({ quantities: ['count'] }, { count: declared }), [])
  t.equal(quantity(count), undefined)
  t.equal(quantity({ ...count, type: 'number', multipleOf: 0.5 }), undefined)
  t.type(quantity({ type: 'integer', minimum: 1 }), 'string', 'without bounds there is no price range')
  t.type(quantity({ ...count, minimum: 0 }), 'string', 'a debit of zero has no event')
  t.type(quantity({ ...count, type: 'number' }), 'string', 'a third is not a whole number of millionths')
})

t.test('a price needs a lowest and a highest value of every parameter', async t => {
  const when = { parameter: 'prompt', equals: 'a mountain lake' }
  t.equal(
    findFault(priced({ surcharges: [{ when, usdMicros: 1 }] }), []),
    'lumen-t2i: prompt affects the price and so needs an enum, bounds or the type boolean',
  )
})

t.test('the numbers of a quantity are whole millionths that can be counted exactly', async t => {
  const count = { type: 'number', minimum: 1, maximum: 4, multipleOf: 0.5 }
  const fault = 'lumen-t2i: the numbers of count must be whole millionths up to 9007199254'
  for (const different of [
    { type: 'integer', maximum: 1e15 },
    { multipleOf: 1e-7 },
    { minimum: 0.0000001 },
    { enum: [1, 1.0000001] },
    { default: 1.0000001 },
  ])
    t.equal(findFault(priced({ quantities: ['count'] }, { count: { ...count, ...different } }), []), fault)
})

t.test('no price is too large at any price of a credit', async t => {
  const fault = 'lumen-t2i: its highest price is too large to represent exactly'
  const when = { parameter: 'hd', equals: true }
  const hd = { type: 'boolean' }
  const max = Number.MAX_SAFE_INTEGER
  t.equal(findFault(priced({ baseMicros: max }), []), undefined)
  t.equal(findFault(priced({ baseMicros: max, surcharges: [{ when, usdMicros: 1 }] }, { hd }), []), fault)
  t.equal(findFault(priced({ surcharges: [{ when, usdMicros: max }] }, { hd }), []), fault)
  const count = { type: 'integer', minimum: 1, maximum: 4 }
  const inBetween = [{ when: { parameter: 'count', equals: 2 }, usdMicros: max }]
  t.equal(findFault(priced({ surcharges: inBetween }, { count }), []), fault)
  t.equal(findFault(priced({ baseMicros: max, quantities: ['count'] }, { count }), []), fault)
  const multipliers = { resolution: { '1K': 1_000_000, '2K': 1_500_000 } }
  t.equal(findFault(priced({ baseMicros: max, multipliers }, { resolution }), []), fault)
})

t.test('a price range can be computed in a moment', async t => {
  const names = Array.from({ length: 12 }, (_, index) => `option_${index}`)
  const properties = Object.fromEntries(names.map(name => [name, { type: 'boolean' }]))
  const surcharges = names.map(parameter => ({ when: { parameter, equals: true }, usdMicros: 1 }))
  t.equal(
    findFault(priced({ surcharges }, properties), []),
    'lumen-t2i: the parameters that affect its price have more than 10000 combinations of values',
  )
})

t.test('names of the language’s own are no parameters and have no multipliers', async t => {
  const size = { type: 'string', enum: ['constructor'] }
  t.equal(
    findFault(priced({ multipliers: { size: { other: 1 } } }, { size }), []),
    'lumen-t2i: size constructor has no multiplier',
  )
  const fault = 'lumen-t2i: the price depends on constructor, which is not a parameter'
  t.equal(findFault(priced({ quantities: ['constructor'] }), []), fault)
  const unnamed = { type: 'string', enum: [{ toString: 1 }] }
  t.equal(
    findFault(priced({ multipliers: { size: { other: 1 } } }, { size: unnamed }), []),
    'lumen-t2i: size has multipliers, so its values must be texts, numbers or booleans',
  )
})

t.test('every text is well-formed Unicode', async t => {
  const half = '\ud800'
  const fault = (place: string) => `lumen: the text at ${place} is not well-formed Unicode`
  t.equal(findFault(family('lumen', { name: `Lumen ${half}` }), []), fault('/name'))
  t.equal(findFault(family('lumen', { name: 'Lumen 💡' }), []), undefined)
  const place = '/endpoints/0/parametersSchema/properties'
  t.equal(findFault(priced({}, { size: { enum: ['S', half] } }), []), fault(`${place}/size/enum/1`))
  t.equal(findFault(priced({}, { [half]: {} }), []), fault(`${place}/\ufffd`))
})
