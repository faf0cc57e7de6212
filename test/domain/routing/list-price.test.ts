import t from 'tap'
import { listPrice } from '../../../src/domain/routing/list-price.ts'

const tokens = {
  units: [
    { unit: 'input_tokens', micros: 1_000_000, per: 1_000_000 },
    { unit: 'output_tokens', micros: 5_000_000, per: 1_000_000 },
  ],
}

t.test('units are priced together, and rounded up once', async t => {
  t.equal(listPrice(tokens, { input_tokens: 1000, output_tokens: 20, other: 7 }, {}), 1100)
  const thirds = { units: ['a', 'b', 'c'].map(unit => ({ unit, micros: 1, per: 3 })) }
  t.equal(listPrice(thirds, { a: 1, b: 1, c: 1 }, {}), 1)
  t.equal(listPrice(thirds, { a: 1, b: 1, c: 2 }, {}), 2)
  t.equal(listPrice(thirds, { a: 0, b: 0, c: 0 }, {}), 0)
})

t.test('quantities have fractions', async t => {
  const seconds = { units: [{ unit: 'seconds', micros: 100_000, per: 1 }] }
  t.equal(listPrice(seconds, { seconds: 4.29 }, {}), 429_000)
  t.equal(listPrice(seconds, { seconds: 0.1 + 0.2 }, {}), 30_001, 'more than six decimals are rounded up')
})

t.test('an unknown unit makes the price unknown', async t => {
  t.equal(listPrice(tokens, { input_tokens: 1000 }, {}), undefined)
  for (const output_tokens of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, '5' as unknown as number])
    t.equal(listPrice(tokens, { input_tokens: 1, output_tokens }, {}), undefined, String(output_tokens))
  t.equal(listPrice({ units: [{ unit: 'constructor', micros: 1, per: 1 }] }, {}, {}), undefined)
})

t.test('prices hold for values of the input, and an input without a price is not priced at nothing', async t => {
  const price = (resolution: string, micros: number, audio: boolean) => ({
    ...{ unit: 'duration', micros, per: 1 },
    when: { resolution, audio },
  })
  const video = { units: [price('720p', 200_000, false), price('720p', 400_000, true), price('4k', 600_000, true)] }
  const priceOf = (resolution: string, audio?: boolean) => listPrice(video, { duration: 8 }, { resolution, audio })
  t.equal(priceOf('720p', false), 1_600_000)
  t.equal(priceOf('720p', true), 3_200_000)
  t.equal(priceOf('4k', true), 4_800_000)
  t.equal(priceOf('4k', false), undefined)
  t.equal(priceOf('720p'), undefined)
  const searched = {
    units: [
      { unit: 'outputs', micros: 80_000, per: 1 },
      { unit: 'outputs', micros: 15_000, per: 1, when: { search: true } },
    ],
  }
  t.equal(listPrice(searched, { outputs: 2 }, { search: true }), 190_000)
  t.equal(listPrice(searched, { outputs: 2 }, { search: false }), 160_000)
})

t.test('a price that no double counts exactly is unknown', async t => {
  const dear = { units: [{ unit: 'runs', micros: Number.MAX_SAFE_INTEGER, per: 1 }] }
  t.equal(listPrice(dear, { runs: 1 }, {}), Number.MAX_SAFE_INTEGER)
  t.equal(listPrice(dear, { runs: 2 }, {}), undefined)
})

t.test('tokens of a cache have a price of their own, and are no others', async t => {
  const cached = {
    units: [
      { unit: 'prompt', without: ['cached', 'written'], micros: 10, per: 1 },
      { unit: 'cached', mayBeAbsent: true as const, micros: 1, per: 1 },
      { unit: 'written', mayBeAbsent: true as const, micros: 20, per: 1 },
    ],
  }
  t.equal(listPrice(cached, { prompt: 100, cached: 80, written: 5 }, {}), 15 * 10 + 80 + 5 * 20)
  t.equal(listPrice(cached, { prompt: 100 }, {}), 1000, 'a report without them has none')
  t.equal(listPrice(cached, { cached: 80 }, {}), undefined, 'what must be reported is unknown')
  t.equal(listPrice(cached, { prompt: 10, cached: 80 }, {}), undefined, 'a contradiction is no price')
  t.equal(listPrice(cached, { prompt: 100, cached: -1 }, {}), undefined)
})
