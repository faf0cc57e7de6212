import fc from 'fast-check'
import t from 'tap'
import { PriceList } from '../../../schemas/packs.ts'
import { MAX_GRANT_MICROS } from '../../../schemas/primitives.ts'
import { catalog } from '../../../src/domain/catalog/catalog.ts'
import { findPacksFault, priceOfCredits } from '../../../src/domain/catalog/packs.ts'
import { decimalsOf } from '../../../src/domain/currencies.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { compileCheck } from '../../../src/services/schema-check.ts'
import { family, published } from '../../support/catalog-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'
import { freeAmount, pack, packsPublished, priceList, publishPacks, studio } from '../../support/pack-samples.ts'

const byHand = <Some extends object>(some: Some) => ({ ...some, byHand: true as const })
const publishedByHand = (list: PriceList) => ({ type: 'PacksPublished' as const, data: byHand(list) })

t.test('a price list is published as a whole, once', async () => {
  const other = { packs: [studio] }
  given(catalog).when(publishPacks(priceList)).then(packsPublished(priceList))
  given(catalog, packsPublished(priceList)).when(publishPacks(priceList)).refused('packs_unchanged')
  given(catalog, packsPublished(priceList)).when(publishPacks(other)).then(packsPublished(other))
  given(catalog, packsPublished(priceList))
    .when(publishPacks({ packs: [] }))
    .then(packsPublished({ packs: [] }))
  given(catalog)
    .when(publishPacks({ packs: [] }))
    .refused('packs_unchanged')
})

t.test('the order of packs counts as a difference, the order of fields does not', async () => {
  const reversed = { packs: priceList.packs.toReversed(), freeAmount: freeAmount() }
  const reordered = Object.fromEntries(Object.entries(pack()).reverse()) as ReturnType<typeof pack>
  given(catalog, packsPublished(priceList)).when(publishPacks(reversed)).then(packsPublished(reversed))
  given(catalog, packsPublished({ packs: [pack()] }))
    .when(publishPacks({ packs: [reordered] }))
    .refused('packs_unchanged')
})

t.test('taking a price list over by hand, or releasing it, is a change', async () => {
  const list = { packs: [pack()] }
  given(catalog, packsPublished(list))
    .when(byHand(publishPacks(list)))
    .then(publishedByHand(list))
  given(catalog, publishedByHand(list))
    .when(byHand(publishPacks(list)))
    .refused('packs_unchanged')
  given(catalog, publishedByHand(list)).when(publishPacks(list)).then(packsPublished(list))
})

t.test('the state has the price list with its revision, beside the families', async t => {
  const event = (revision: number, list: PriceList) => ({ ...at(THEN_MS, packsPublished(list)), revision })
  const { state } = given(catalog, published(family('lumen')), event(1, priceList), event(2, { packs: [studio] }))
  t.same(state.packs, { packs: [studio], revision: 2, byHand: false })
  t.ok(state.families.has('lumen'))
  const later = given(catalog, event(1, priceList), published(family('lumen'))).state
  t.same(later.packs, { ...priceList, revision: 1, byHand: false }, 'a family changes no price of credits')
})

t.test('a fault is told with its place', async t => {
  const faults: [PriceList, object][] = [
    [{ packs: [pack(), pack()] }, { path: '/packs/1/id', code: 'id_repeated' }],
    [{ packs: [pack('a', { currency: 'XXX' })] }, { path: '/packs/0/currency', code: 'currency_unknown' }],
    [{ packs: [pack('a', { amount: '12' })] }, { path: '/packs/0/amount', code: 'decimals_wrong', decimals: 2 }],
    [{ packs: [pack('a', { amount: '12.500' })] }, { path: '/packs/0/amount', code: 'decimals_wrong', decimals: 2 }],
    [
      { packs: [pack('a', { amount: '1250.00', currency: 'JPY' })] },
      { path: '/packs/0/amount', code: 'decimals_wrong', decimals: 0 },
    ],
    [{ packs: [pack(), pack('b', { amount: '0.00' })] }, { path: '/packs/1/amount', code: 'amount_zero' }],
    [{ packs: [pack('a', { amount: '3.505', currency: 'KWD' })] }, { path: '/packs/0/amount', code: 'amount_inexact' }],
    [
      { packs: [], freeAmount: freeAmount({ currency: 'DEM' }) },
      { path: '/freeAmount/currency', code: 'currency_unknown' },
    ],
    [
      { packs: [], freeAmount: freeAmount({ amountPerCredit: '0.000000' }) },
      { path: '/freeAmount/amountPerCredit', code: 'amount_zero' },
    ],
    [
      { packs: [], freeAmount: freeAmount({ maxCreditsMicros: 1 }) },
      { path: '/freeAmount/maxCreditsMicros', code: 'bounds_reversed' },
    ],
    [
      { packs: [], freeAmount: freeAmount({ amountPerCredit: '1000', maxCreditsMicros: MAX_GRANT_MICROS }) },
      { path: '/freeAmount/maxCreditsMicros', code: 'price_too_high' },
    ],
  ]
  for (const [list, fault] of faults) {
    t.same(findPacksFault(list), fault)
    given(catalog).when(publishPacks(list)).refused('packs_invalid', { fault })
  }
  const yen = pack('yen', { amount: '1250', currency: 'JPY' })
  const dinar = pack('dinar', { amount: '3.500', currency: 'KWD' })
  t.equal(findPacksFault({ packs: [pack(), studio, yen, dinar], freeAmount: freeAmount() }), undefined)
})

t.test('the schema admits at most 20 packs, and no amount that is not a decimal text', async t => {
  const check = compileCheck(PriceList)
  const many = (count: number) => ({ packs: Array.from({ length: count }, (_, index) => pack(`pack-${index}`)) })
  t.same(check(many(20)), [])
  t.match(check(many(21)), [{ path: '/packs' }])
  const faulty: [object, string][] = [
    [{ id: 'A B' }, 'id'],
    [{ amount: 12.5 }, 'amount'],
    [{ amount: '-1.00' }, 'amount'],
    [{ creditsMicros: 0 }, 'creditsMicros'],
    [{ creditsMicros: MAX_GRANT_MICROS + 1 }, 'creditsMicros'],
    [{ bonusMicros: 0 }, 'bonusMicros'],
    [{ taxCode: 'txcd_1' }, 'taxCode'],
    [{ validDays: 0 }, 'validDays'],
    [{ name: 'a\nb' }, 'name'],
  ]
  for (const [differences, field] of faulty)
    t.match(check({ packs: [pack('a', differences)] }), [{ path: `/packs/0/${field}` }], JSON.stringify(differences))
})

t.test('the price of a free amount is rounded up to what can be charged', async t => {
  const prices: [currency: string, amountPerCredit: string, credits: number, expected: string][] = [
    ['EUR', '0.0125', 1_000, '12.50'],
    ['EUR', '0.0125', 100, '1.25'],
    ['EUR', '0.0125', 100.000001, '1.26'],
    ['EUR', '0.01', 0.000001, '0.01'],
    ['EUR', '0.1', 3, '0.30'],
    ['EUR', '7', 1_000_000_000, '7000000000.00'],
    ['JPY', '1.5', 100, '150'],
    ['JPY', '1.5', 101, '152'],
    ['JPY', '0.000001', 1, '1'],
    ['KWD', '0.0035', 1_000, '3.500'],
    ['KWD', '0.0035', 1_001, '3.510'],
    ['KWD', '0.003', 1, '0.010'],
  ]
  for (const [currency, amountPerCredit, credits, expected] of prices)
    t.equal(
      priceOfCredits({ currency, amountPerCredit }, toMicros(credits)),
      expected,
      `${credits} × ${amountPerCredit} ${currency}`,
    )
})

t.test('a price is never less than credits × the price of one, and less than one unit more', async () => {
  const currencies = fc.constantFrom('JPY', 'EUR', 'KWD')
  const micros = fc.integer({ min: 1, max: MAX_GRANT_MICROS })
  const perCreditMicros = fc.integer({ min: 1, max: 999_999_999_999 })
  fc.assert(
    fc.property(currencies, micros, perCreditMicros, (currency, creditsMicros, per) => {
      const digits = String(per).padStart(7, '0')
      const amountPerCredit = `${digits.slice(0, -6)}.${digits.slice(-6)}`
      const price = priceOfCredits({ currency, amountPerCredit }, creditsMicros)
      const decimals = decimalsOf(currency) as number
      const unit = currency === 'KWD' ? 10n : 1n
      const charged = BigInt(price.replace('.', ''))
      // Both sides are in millionths of a millionth of the smallest decimal.
      const exact = BigInt(creditsMicros) * BigInt(per) * 10n ** BigInt(decimals)
      const scaled = charged * 10n ** 12n
      return (price.split('.')[1] ?? '').length === decimals && charged % unit === 0n && scaled >= exact
        ? scaled - exact < unit * 10n ** 12n
        : false
    }),
  )
})
