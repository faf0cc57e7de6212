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
