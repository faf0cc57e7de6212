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
    [{ aliases: ['umbra-t2i'] }, 'umbra-t2i'],
  ]
  for (const [differences, name] of clashes)
    t.same(findFault(family('lumen', differences), others), {
      id: differences.id ?? 'lumen',
      code: 'name_taken',
      name,
    })
  t.match(findFault(family('lumen'), [family('umbra', { aliases: ['lumen-t2i'] })]), { name: 'lumen-t2i' })
})

t.test('each kind has one endpoint, whose id ends with the kind', async t => {
  t.same(findFault(lumen(endpoint('t2i'), endpoint('t2i')), []), { id: 'lumen', code: 'kind_repeated' })
  t.same(findFault(lumen(endpoint('t2i'), endpoint('i2i', { id: 'lumen-edit' })), []), {
    id: 'lumen-edit',
    code: 'id_mismatch',
    expectedId: 'lumen-i2i',
  })
})

t.test('a price may depend only on existing parameters', async t => {
  const fault = { id: 'lumen-t2i', code: 'parameter_unknown', parameter: 'size' }
  const when = { parameter: 'size', equals: true }
  t.same(findFault(priced({ quantities: ['size'] }), []), fault)
  t.same(findFault(priced({ multipliers: { size: { '1K': 1 } } }), []), fault)
  t.same(findFault(priced({ surcharges: [{ when, usdMicros: 1 }] }), []), fault)
})

t.test('a parameter with multipliers needs one for every value', async t => {
  const multipliers = { resolution: { '1K': 1_000_000 } }
  const place = { id: 'lumen-t2i', parameter: 'resolution' }
  t.same(findFault(priced({ multipliers }, { resolution: { type: 'string' } }), []), {
    ...place,
    code: 'values_not_listed',
  })
  t.same(findFault(priced({ multipliers }, { resolution }), []), { ...place, code: 'multiplier_missing', value: '2K' })
})

t.test('a quantity is bounded, positive and a multiple of one millionth', async t => {
  const count = { type: 'integer', minimum: 1, maximum: 4 }
  const quantity = (declared: Record<string, unknown>) =>
    findFault(priced({ quantities: ['count'] }, { count: declared }), [])
  t.equal(quantity(count), undefined)
  t.equal(quantity({ ...count, type: 'number', multipleOf: 0.5 }), undefined)
  const fault = { id: 'lumen-t2i', code: 'quantity_uncountable', parameter: 'count' }
  t.same(quantity({ type: 'integer', minimum: 1 }), fault, 'without bounds there is no price range')
  t.same(quantity({ ...count, minimum: 0 }), fault, 'a debit of zero has no event')
  t.same(quantity({ ...count, type: 'number' }), fault, 'a third is not a whole number of millionths')
})

t.test('a price needs a lowest and a highest value of every parameter', async t => {
  const when = { parameter: 'prompt', equals: 'a mountain lake' }
  t.same(findFault(priced({ surcharges: [{ when, usdMicros: 1 }] }), []), {
    id: 'lumen-t2i',
    code: 'price_unbounded',
    parameter: 'prompt',
  })
})

t.test('the numbers of a quantity are whole millionths that can be counted exactly', async t => {
  const count = { type: 'number', minimum: 1, maximum: 4, multipleOf: 0.5 }
  const fault = { id: 'lumen-t2i', code: 'quantity_inexact', parameter: 'count', maximum: 9_007_199_254 }
  for (const different of [
    { type: 'integer', maximum: 1e15 },
    { multipleOf: 1e-7 },
    { minimum: 0.0000001 },
    { enum: [1, 1.0000001] },
    { default: 1.0000001 },
  ])
    t.same(findFault(priced({ quantities: ['count'] }, { count: { ...count, ...different } }), []), fault)
})

t.test('no price is too large at any price of a credit', async t => {
  const fault = { id: 'lumen-t2i', code: 'price_too_high' }
  const when = { parameter: 'hd', equals: true }
  const hd = { type: 'boolean' }
  const max = Number.MAX_SAFE_INTEGER
  t.same(findFault(priced({ baseMicros: max }), []), undefined)
  t.same(findFault(priced({ baseMicros: max, surcharges: [{ when, usdMicros: 1 }] }, { hd }), []), fault)
  t.same(findFault(priced({ surcharges: [{ when, usdMicros: max }] }, { hd }), []), fault)
  const count = { type: 'integer', minimum: 1, maximum: 4 }
  const inBetween = [{ when: { parameter: 'count', equals: 2 }, usdMicros: max }]
  t.same(findFault(priced({ surcharges: inBetween }, { count }), []), fault)
  t.same(findFault(priced({ baseMicros: max, quantities: ['count'] }, { count }), []), fault)
  const multipliers = { resolution: { '1K': 1_000_000, '2K': 1_500_000 } }
  t.same(findFault(priced({ baseMicros: max, multipliers }, { resolution }), []), fault)
})

t.test('a price range can be computed in a moment', async t => {
  const names = Array.from({ length: 12 }, (_, index) => `option_${index}`)
  const properties = Object.fromEntries(names.map(name => [name, { type: 'boolean' }]))
  const surcharges = names.map(parameter => ({ when: { parameter, equals: true }, usdMicros: 1 }))
  t.same(findFault(priced({ surcharges }, properties), []), {
    id: 'lumen-t2i',
    code: 'price_combinations',
    limit: 10_000,
  })
})

t.test('names of the language’s own are no parameters and have no multipliers', async t => {
  const size = { type: 'string', enum: ['constructor'] }
  t.same(findFault(priced({ multipliers: { size: { other: 1 } } }, { size }), []), {
    id: 'lumen-t2i',
    code: 'multiplier_missing',
    parameter: 'size',
    value: 'constructor',
  })
  const fault = { id: 'lumen-t2i', code: 'parameter_unknown', parameter: 'constructor' }
  t.same(findFault(priced({ quantities: ['constructor'] }), []), fault)
  const unnamed = { type: 'string', enum: [{ toString: 1 }] }
  t.same(findFault(priced({ multipliers: { size: { other: 1 } } }, { size: unnamed }), []), {
    id: 'lumen-t2i',
    code: 'values_not_scalar',
    parameter: 'size',
  })
})

t.test('every text is well-formed Unicode', async t => {
  const half = '\ud800'
  const fault = (place: string) => ({ id: 'lumen', code: 'text_ill_formed', path: place })
  t.same(findFault(family('lumen', { name: `Lumen ${half}` }), []), fault('/name'))
  t.same(findFault(family('lumen', { name: 'Lumen 💡' }), []), undefined)
  const place = '/endpoints/0/parametersSchema/properties'
  t.same(findFault(priced({}, { size: { enum: ['S', half] } }), []), fault(`${place}/size/enum/1`))
  t.same(findFault(priced({}, { [half]: {} }), []), fault(`${place}/\ufffd`))
})
