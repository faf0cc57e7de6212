import t from 'tap'
import type { Receipt } from '../../../schemas/catalog.ts'
import { decimal } from '../../../src/audit/decimal.ts'
import { priceSteps } from '../../../src/audit/explain/price-steps.ts'

const receiptOf = (...lines: Receipt['lines']): Receipt => ({
  ...{ catalogRevision: 41, model: 'film', endpoint: 'film-t2v', totalMicros: 1, usdPerCreditMicros: 9999 },
  lines,
})
const stepsOf = (...lines: Receipt['lines']) =>
  priceSteps(receiptOf(...lines)).map(({ line, result }) => [line.kind, result])

const base = { kind: 'base', amountMicros: 1_000_000 } as const
const quantity = { kind: 'quantity', parameter: 'duration', value: 2.5 } as const
const factor = { kind: 'multiplier', parameter: 'resolution', value: '1080p', factorMicros: 1_333_333 } as const
const audio = {
  kind: 'surcharge',
  parameter: 'audio',
  equals: true,
  usdMicros: 10_000,
  amountMicros: 1_000_101,
} as const

t.test('each step has its exact result, rounded up once before the surcharges', async t => {
  t.same(stepsOf(base, quantity, factor, audio), [
    ['base', '1'],
    ['quantity', '2.5'],
    ['multiplier', '3.3333325'],
    ['rounding', '3.333333'],
    ['surcharge', '4.333434'],
  ])
})

t.test('a price without a fraction of a microcredit has no rounding', async t => {
  t.same(stepsOf(base), [['base', '1']])
  t.same(stepsOf(base, quantity, quantity), [
    ['base', '1'],
    ['quantity', '2.5'],
    ['quantity', '6.25'],
  ])
})

t.test('tokens are added to the base price, and rounded up with it', async t => {
  const tokens = (kind: 'input' | 'output', count: number) =>
    ({ kind: 'tokens', tokens: kind, count, perMillionMicros: 1_500_000 }) as const
  t.same(stepsOf(base, factor, tokens('input', 3), tokens('output', 1), audio), [
    ['base', '1'],
    ['multiplier', '1.333333'],
    ['tokens', '1.3333375'],
    ['tokens', '1.333339'],
    ['surcharge', '2.33344'],
  ])
  t.same(stepsOf(tokens('input', 3), tokens('output', 4)), [
    ['tokens', '0.0000045'],
    ['tokens', '0.0000105'],
    ['rounding', '0.000011'],
  ])
})

t.test('results are exact beyond the range of doubles', async t => {
  const large = { ...base, amountMicros: 9_007_199_254_740_991 }
  t.same(stepsOf(large, { ...factor, factorMicros: 1_000_001 }).slice(1), [
    ['multiplier', '9007208261.940245740991'],
    ['rounding', '9007208261.940246'],
  ])
})

t.test('decimal numbers are exact and short', async t => {
  t.same(
    [0n, 1n, -1n, 1_500_000n, -10_000_000n, 123_456_789n].map(value => decimal(value, 6)),
    ['0', '0.000001', '-0.000001', '1.5', '-10', '123.456789'],
  )
})
