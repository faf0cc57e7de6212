import t from 'tap'
import type { Done, Failed } from '../../../src/ports/provider.ts'
import { mayBeBilled, providerCost } from '../../../src/services/providers/provider-cost.ts'

const picture = { mimeType: 'image/png', url: 'https://a.example/x.png' }
const done: Done = { kind: 'done', media: [picture, picture] }
const failed = (code: Failed['code']): Failed => ({ kind: 'failed', code, message: 'no' })
const list = (unit: string) => ({ currency: 'USD', units: [{ unit, micros: 40_000, per: 1 }] })

t.test('what a vendor states goes before its price list', async t => {
  const work = { units: { seconds: 2 }, cost: { amountMicros: 5, currency: 'EUR' } }
  const cost = providerCost({ ...done, work }, list('outputs'), {})
  t.same(cost, { units: { seconds: 2 }, amountMicros: 5, currency: 'EUR', source: 'reported' })
  for (const wrong of [
    { amountMicros: 0.5, currency: 'USD' },
    { amountMicros: -1, currency: 'USD' },
    { amountMicros: 1, currency: 'dollars' },
  ])
    t.match(providerCost({ ...done, work: { cost: wrong } }, list('outputs'), {}), { source: 'price_list' })
})

t.test('a price list counts reported units, outputs, runs and numbers of the input', async t => {
  const cost = (amountMicros: number) => ({ amountMicros, currency: 'USD', source: 'price_list' })
  t.same(providerCost(done, list('outputs'), {}), cost(80_000))
  t.same(providerCost(done, list('runs'), {}), cost(40_000))
  t.same(providerCost(done, list('duration'), { duration: 8 }), cost(320_000))
  t.same(providerCost(done, list('duration'), { duration: '8' }), { source: 'unknown' })
  t.same(providerCost(done, list('characters'), { text: 'Zü👋' }), cost(120_000))
  const reported = { ...done, work: { units: { duration: 5 } } }
  t.same(providerCost(reported, list('duration'), { duration: 8 }), { units: { duration: 5 }, ...cost(200_000) })
  t.same(providerCost(done, undefined, {}), { source: 'unknown' })
})

t.test('only what a vendor reports of a failed run is priced', async t => {
  for (const unit of ['outputs', 'runs', 'duration'])
    t.same(providerCost(failed('interrupted'), list(unit), { duration: 8 }), { source: 'unknown' })
  const work = { units: { tokens: 3 } }
  t.match(providerCost({ ...failed('content_rejected'), work }, list('tokens'), {}), { amountMicros: 120_000 })
})

t.test('units that no event can hold are left out', async t => {
  const units = { '': 1, [`x${'y'.repeat(64)}`]: 1, '\ud800': 1, nan: Number.NaN, negative: -1, seconds: 1.5 }
  t.same(providerCost({ ...done, work: { units } }, undefined, {}), { units: { seconds: 1.5 }, source: 'unknown' })
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`unit-${index}`, index]))
  t.equal(Object.keys(providerCost({ ...done, work: { units: many } }, undefined, {}).units ?? {}).length, 32)
})

t.test('a vendor bills what it has done, and may bill what it was doing, but not what it refused', async t => {
  t.ok(mayBeBilled(done))
  for (const code of ['interrupted', 'provider_timeout', 'cancelled'] as const) t.ok(mayBeBilled(failed(code)), code)
  for (const code of ['content_rejected', 'invalid_input', 'provider_error'] as const) {
    t.notOk(mayBeBilled(failed(code)), code)
    t.ok(mayBeBilled({ ...failed(code), work: { units: { tokens: 1 } } }), code)
  }
})
