import t from 'tap'
import { toMicros } from '../../../src/domain/money.ts'
import { offersFor } from '../../../src/services/purchases/offered-credits.ts'
import { freeAmount, pack, studio } from '../../support/pack-samples.ts'

const URL = 'https://tollgate.example.com'
const sized = (credits: number, bonus?: number) =>
  pack(`p-${credits}`, { creditsMicros: toMicros(credits), ...(bonus && { bonusMicros: toMicros(bonus) }) })
const packs = [sized(1000), sized(10), sized(100, 20), sized(500)]
const offered = (missing: number, list = {}) =>
  offersFor({ packs, ...list }, toMicros(missing), URL).map(each => each.pack ?? each.creditsMicros / 1_000_000)

t.test('the smallest packs that cover the missing credits come first, then the largest of the others', async t => {
  t.same(offered(5), ['p-10', 'p-100', 'p-500'])
  t.same(offered(10.000001), ['p-100', 'p-500', 'p-1000'])
  t.same(offered(120), ['p-100', 'p-500', 'p-1000'], 'the bonus counts')
  t.same(offered(120.000001), ['p-500', 'p-1000', 'p-100'])
  t.same(offered(1000), ['p-1000', 'p-500', 'p-100'])
  t.same(offered(1001), ['p-1000', 'p-500', 'p-100'], 'none covers it')
  t.same(offersFor({ packs: [] }, 1, URL), [])
})

t.test('a free amount is offered if it covers what no pack does', async t => {
  const list = { freeAmount: freeAmount() }
  t.same(offered(5, list), ['p-10', 'p-100', 'p-500'])
  t.same(offered(1000.5, list), [1001, 'p-1000', 'p-500'])
  t.same(offered(50_000, list), [50_000, 'p-1000', 'p-500'])
  t.same(offered(50_001, list), ['p-1000', 'p-500', 'p-100'], 'it does not cover so much')
  t.same(offered(5, { ...list, packs: [] }), [100], 'the least that is for sale')
  const narrow = { packs: [], freeAmount: freeAmount({ maxCreditsMicros: toMicros(100.5) }) }
  t.same(offered(100.2, narrow), [100.5], 'never more than is for sale')
})

t.test('an offer has the price and the address to buy at', async t => {
  t.same(offersFor({ packs: [studio] }, 1, URL), [
    {
      ...{ pack: 'studio', name: 'Studio', creditsMicros: 10_000_000_000, bonusMicros: 500_000_000 },
      ...{ amount: '119.00', currency: 'EUR', validDays: 365 },
      buyUrl: 'https://tollgate.example.com/console/credits?pack=studio',
    },
  ])
  t.same(offersFor({ packs: [], freeAmount: freeAmount({ validDays: 30 }) }, toMicros(150.5), URL), [
    {
      ...{ name: '151 credits', creditsMicros: 151_000_000, bonusMicros: 0 },
      ...{ amount: '1.89', currency: 'EUR', validDays: 30 },
      buyUrl: 'https://tollgate.example.com/console/credits?credits=151',
    },
  ])
})
