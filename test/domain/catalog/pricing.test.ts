import fc from 'fast-check'
import t from 'tap'
import type { Endpoint, PriceRule } from '../../../schemas/catalog.ts'
import { nanoBanana2 } from '../../../src/catalog/image/nano-banana-2.ts'
import { priceOf, priceRange, surchargeMicros } from '../../../src/domain/catalog/pricing.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import { parameters, priceRule } from '../../support/catalog-samples.ts'

const CENT = toMicros(0.01)
const [nano] = nanoBanana2.family.endpoints as [Endpoint]

const credits = (rule: PriceRule, input: Record<string, unknown>, usdPerCreditMicros = CENT): number =>
  fromMicros(priceOf(rule, input, usdPerCreditMicros).totalMicros)

// From the specification: 10 credits × number of pictures × 1, 1.5 or 2, plus 0.015 USD for the web search.
const table: [num_images: number, resolution: string, plain: number, searching: number][] = [
  [1, '1K', 10, 11.5],
  [2, '1K', 20, 21.5],
  [3, '1K', 30, 31.5],
  [4, '1K', 40, 41.5],
  [1, '2K', 15, 16.5],
  [2, '2K', 30, 31.5],
  [3, '2K', 45, 46.5],
  [4, '2K', 60, 61.5],
  [1, '4K', 20, 21.5],
  [2, '4K', 40, 41.5],
  [3, '4K', 60, 61.5],
  [4, '4K', 80, 81.5],
]

t.test('nano-banana-2 has the prices of the specification', async t => {
  for (const [num_images, resolution, plain, searching] of table) {
    const input = { prompt: 'a lighthouse', num_images, resolution }
    t.equal(credits(nano.pricing, { ...input, enable_web_search: false }), plain, `${num_images} at ${resolution}`)
    t.equal(
      credits(nano.pricing, { ...input, enable_web_search: true }),
      searching,
      `${num_images} at ${resolution}, searching`,
    )
  }
})

t.test('nano-banana-2 costs 10 to 81.5 credits', async t => {
  t.same(priceRange(nano.pricing, nano.parametersSchema, CENT), { minMicros: toMicros(10), maxMicros: toMicros(81.5) })
})

t.test('a receipt lists every part of the price', async t => {
  const input = { num_images: 3, resolution: '2K', enable_web_search: true }
  t.same(priceOf(nano.pricing, input, CENT), {
    lines: [
      { kind: 'base', amountMicros: 10_000_000 },
      { kind: 'quantity', parameter: 'num_images', value: 3 },
      { kind: 'multiplier', parameter: 'resolution', value: '2K', factorMicros: 1_500_000 },
      {
        kind: 'surcharge',
        parameter: 'enable_web_search',
        equals: true,
        usdMicros: 15_000,
        amountMicros: 1_500_000,
      },
    ],
    totalMicros: 46_500_000,
    usdPerCreditMicros: CENT,
  })
})

t.test('an absent parameter does not affect the price', async t => {
  t.equal(credits(nano.pricing, { prompt: 'a lighthouse' }), 10)
})

t.test('a surcharge depends on the price of a credit and is added once, not per picture', async t => {
  const input = { num_images: 4, resolution: '1K', enable_web_search: true }
  t.equal(credits(nano.pricing, input, toMicros(0.02)), 40.75)
  t.equal(credits(nano.pricing, input, toMicros(1)), 40.015)
})

t.test('prices that do not divide evenly round up to the next microcredit', async t => {
  const third = priceRule({ baseMicros: 1, multipliers: { quality: { low: 333_333 } } })
  t.equal(priceOf(third, { quality: 'low' }, CENT).totalMicros, 1)
  t.equal(priceOf({ ...third, baseMicros: 4 }, { quality: 'low' }, CENT).totalMicros, 2)
  t.equal(surchargeMicros(1, 3_000_000), 1)
  t.equal(surchargeMicros(10, 3_000_000), 4)
  t.equal(surchargeMicros(9, 3_000_000), 3, 'an even division is not rounded')
})

t.test('a price is rounded once, not after each factor', async t => {
  const half = { low: 500_000 }
  const rule = priceRule({ baseMicros: 1, quantities: ['count'], multipliers: { quality: half, speed: half } })
  t.equal(priceOf(rule, { count: 4, quality: 'low', speed: 'low' }, CENT).totalMicros, 1)
})

t.test('a value without a factor throws', async t => {
  t.throws(() => priceOf(nano.pricing, { resolution: '8K' }, CENT), { message: /no factor for resolution 8K/ })
})

t.test('names of the language’s own have no factor and no value', async t => {
  const rule = priceRule({ multipliers: { constructor: { wide: 2_000_000 }, size: { wide: 2_000_000 } } })
  t.equal(credits(rule, { size: 'wide' }), 20)
  t.throws(() => credits(rule, { size: 'constructor' }), /no factor for size constructor/)
})

t.test('a sum above the largest safe integer throws', async t => {
  const surcharges = [{ when: { parameter: 'hd', equals: true }, usdMicros: 10_000 }]
  const rule = priceRule({ baseMicros: Number.MAX_SAFE_INTEGER, surcharges })
  t.throws(() => priceOf(rule, { hd: true }, CENT), RangeError)
})

t.test('a price above the largest safe integer throws', async t => {
  const rule = priceRule({ baseMicros: Number.MAX_SAFE_INTEGER, quantities: ['count'] })
  t.throws(() => priceOf(rule, { count: 2 }, CENT), RangeError)
})

const micros = (max: number) => fc.integer({ min: 1, max })

/** A pricing rule with an input, and the same input with its first quantity increased by one. */
const priced = fc
  .record({
    baseMicros: micros(1e6),
    counts: fc.array(micros(20), { minLength: 1, maxLength: 3 }),
    factors: fc.array(micros(5e6), { maxLength: 3 }),
    usd: fc.array(micros(1e6), { maxLength: 2 }),
    usdPerCreditMicros: micros(1e9),
  })
  .map(({ baseMicros, counts, factors, usd, usdPerCreditMicros }) => ({
    ...{ baseMicros, counts, factors, usd, usdPerCreditMicros },
    rule: priceRule({
      baseMicros,
      quantities: counts.map((_, index) => `count${index}`),
      multipliers: Object.fromEntries(factors.map((factor, index) => [`factor${index}`, { on: factor }])),
      surcharges: usd.map((usdMicros, index) => ({ when: { parameter: `extra${index}`, equals: true }, usdMicros })),
    }),
    input: {
      ...Object.fromEntries(counts.map((count, index) => [`count${index}`, count])),
      ...Object.fromEntries(factors.map((_, index) => [`factor${index}`, 'on'])),
      ...Object.fromEntries(usd.map((_, index) => [`extra${index}`, true])),
    } as Record<string, unknown>,
  }))

t.test('a price is a positive integer', async t => {
  fc.assert(
    fc.property(priced, ({ rule, input, usdPerCreditMicros }) => {
      const { totalMicros } = priceOf(rule, input, usdPerCreditMicros)
      return Number.isSafeInteger(totalMicros) && totalMicros >= 1
    }),
  )
  t.pass()
})

t.test('a price is the exact product, rounded up', async t => {
  fc.assert(
    fc.property(priced, ({ rule, input, usdPerCreditMicros, baseMicros, counts, factors, usd }) => {
      const { totalMicros } = priceOf(rule, input, usdPerCreditMicros)
      const product = [...counts, ...factors].reduce((all, factor) => all * BigInt(factor), BigInt(baseMicros))
      const ceiling = (dividend: bigint, divisor: bigint) => dividend / divisor + (dividend % divisor > 0n ? 1n : 0n)
      const surcharges = usd.map(one => ceiling(BigInt(one) * 1_000_000n, BigInt(usdPerCreditMicros)))
      const expected = ceiling(product, 1_000_000n ** BigInt(factors.length))
      return BigInt(totalMicros) === surcharges.reduce((sum, one) => sum + one, expected)
    }),
  )
  t.pass()
})

t.test('a higher quantity never costs less', async t => {
  fc.assert(
    fc.property(priced, ({ rule, input, usdPerCreditMicros, counts }) => {
      const more = { ...input, count0: (counts[0] as number) + 1 }
      return priceOf(rule, more, usdPerCreditMicros).totalMicros >= priceOf(rule, input, usdPerCreditMicros).totalMicros
    }),
  )
  t.pass()
})

t.test('the total can be recomputed from the receipt', async t => {
  fc.assert(
    fc.property(priced, ({ rule, input, usdPerCreditMicros }) => {
      const { lines, totalMicros } = priceOf(rule, input, usdPerCreditMicros)
      let [product, scale, surcharges] = [0n, 1n, 0]
      for (const line of lines) {
        if (line.kind === 'base') product = BigInt(line.amountMicros)
        if (line.kind === 'quantity') product *= BigInt(line.value)
        if (line.kind === 'multiplier') {
          product *= BigInt(line.factorMicros)
          scale *= 1_000_000n
        }
        if (line.kind === 'surcharge') surcharges += line.amountMicros
      }
      return Number((product + scale - 1n) / scale) + surcharges === totalMicros
    }),
  )
  t.pass()
})

t.test('the price range contains every price, and both its ends are prices', async t => {
  const rule = priceRule({
    quantities: ['count'],
    multipliers: { quality: { low: 500_000, high: 3_000_000 } },
    surcharges: [{ when: { parameter: 'search', equals: true }, usdMicros: 20_000 }],
  })
  const schema = parameters({
    count: { type: 'integer', minimum: 2, maximum: 5 },
    quality: { type: 'string', enum: ['low', 'high'] },
    search: { type: 'boolean', default: false },
  })
  const { minMicros, maxMicros } = priceRange(rule, schema, CENT)
  const prices = [undefined, 2, 3, 4, 5].flatMap(count =>
    [undefined, 'low', 'high'].flatMap(quality =>
      [false, true].map(search => priceOf(rule, { count, quality, search }, CENT).totalMicros),
    ),
  )
  t.equal(minMicros, Math.min(...prices))
  t.equal(maxMicros, Math.max(...prices))
  t.equal(fromMicros(minMicros), 5, 'the count has no default and may be absent')
  t.equal(fromMicros(maxMicros), 152)
})

t.test('a parameter without bounds has no price range', async t => {
  const rule = priceRule({ quantities: ['count'] })
  t.throws(() => priceRange(rule, parameters({ count: { type: 'integer' } }), CENT), {
    message: /does not bound count/,
  })
  t.throws(() => priceRange(rule, parameters(), CENT), { message: /does not have/ })
})
