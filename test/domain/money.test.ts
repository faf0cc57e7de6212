import fc from 'fast-check'
import t from 'tap'
import { MAX_GRANT_MICROS } from '../../schemas/primitives.ts'
import { fromMicros, toMicros } from '../../src/domain/money.ts'

t.test('credits convert to microcredits', async t => {
  t.equal(toMicros(1), 1_000_000)
  t.equal(toMicros(0.000001), 1)
  t.equal(toMicros(0.1), 100_000)
  t.equal(toMicros(81.5), 81_500_000)
  t.equal(toMicros(0), 0)
})

t.test('microcredits convert to credits', async t => {
  t.equal(fromMicros(1), 0.000001)
  t.equal(fromMicros(99_999_999), 99.999999)
})

t.test('credits that are not a whole number of millionths throw', async t => {
  const others = [0.0000001, 1.2345678, 0.1 + 0.2, 1 / 3, 1e16, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY]
  for (const decimal of others) t.throws(() => toMicros(decimal), RangeError, String(decimal))
})

t.test('every grantable amount survives the round trip', async t => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_GRANT_MICROS }), micros => toMicros(fromMicros(micros)) === micros),
    { numRuns: 5000 },
  )
  t.pass()
})

t.test('every amount prints as a plain decimal', async t => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 0, max: 999_999 }), (whole, fraction) => {
      const text = `${whole}.${String(fraction).padStart(6, '0')}`
      return toMicros(Number(text)) === whole * 1_000_000 + fraction
    }),
  )
  t.pass()
})
