import t, { type Test } from 'tap'
import { CATALOG_STREAM } from '../../../schemas/events.ts'
import type * as schemas from '../../../schemas/packs.ts'
import { Catalog } from '../../../src/services/catalog/catalog.ts'
import { Offers } from '../../../src/services/catalog/offers.ts'
import { publishShipped } from '../../../src/services/catalog/published-catalog.ts'
import { PriceList, publishConfigured } from '../../../src/services/purchases/price-list.ts'
import { family } from '../../support/catalog-samples.ts'
import { collect } from '../../support/collect.ts'
import { accountsOn, openLog, publishedOn } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { freeAmount, pack, priceList, studio } from '../../support/pack-samples.ts'
import { unwrap } from '../../support/unwrap.ts'

const operator = { kind: 'operator', name: 'olga' } as const
const anyone = { kind: 'anonymous' } as const

/** A price list on an empty log, with that of the configuration. */
const open = async (t: Test, configured: schemas.PriceList = { packs: [] }) => {
  const log = await openLog(t)
  const publishedCatalog = publishedOn(log, new ManualClock())
  return {
    log,
    publishedCatalog,
    list: new PriceList({ publishedCatalog, configured }),
    events: async () => (await collect(log.readStream(CATALOG_STREAM, 0))).map(({ type, data }) => ({ type, data })),
  }
}

t.test('a quote of a pack, and of a free amount, names the revision of the price list', async t => {
  const { list } = await open(t)
  await list.publish(operator, { packs: [pack()] })
  await list.publish(operator, priceList)
  t.same(unwrap(await list.quote(anyone, { pack: 'studio' })), {
    ...{ pack: 'studio', name: 'Studio', creditsMicros: 10_000_000_000, bonusMicros: 500_000_000 },
    ...{ amount: '119.00', currency: 'EUR', validDays: 365, taxCode: 'txcd_10000000', catalogRevision: 1 },
  })
  t.same(unwrap(await list.quote(anyone, { credits: 1000.5 })), {
    ...{ pack: undefined, name: '1000.5 credits', creditsMicros: 1_000_500_000, bonusMicros: 0 },
    ...{ amount: '12.51', currency: 'EUR', validDays: undefined, taxCode: undefined, catalogRevision: 1 },
  })
  for (const credits of [100, 50_000]) t.ok('value' in (await list.quote(anyone, { credits })), `${credits}`)
})

t.test('what is not for sale is refused with what is', async t => {
  const { list } = await open(t)
  for (const wanted of [{ pack: 'starter' }, { credits: 100 }])
    t.same(await list.quote(anyone, wanted), { refuse: { code: 'nothing_for_sale' } })
  await list.publish(operator, { packs: [pack()] })
  const known = ['starter']
  t.same(await list.quote(anyone, { pack: 'huge' }), { refuse: { code: 'pack_unknown', pack: 'huge', known } })
  t.same(await list.quote(anyone, { credits: 100 }), {
    refuse: { code: 'amount_out_of_bounds', bounds: undefined, known },
  })
  await list.publish(operator, { packs: [], freeAmount: freeAmount() })
  const bounds = { minMicros: 100_000_000, maxMicros: 50_000_000_000 }
  for (const credits of [99.999999, 50_000.000001, 100.0000001, -100, 0, Number.NaN, 1e300])
    t.same(
      await list.quote(anyone, { credits }),
      { refuse: { code: 'amount_out_of_bounds', bounds, known: [] } },
      `${credits}`,
    )
  await list.publish(operator, { packs: [] })
  t.same(await list.quote(anyone, { credits: 100 }), { refuse: { code: 'nothing_for_sale' } }, 'no longer')
})

t.test('a list by hand stays until it is released', async t => {
  const configured = { packs: [pack()] }
  const { list, publishedCatalog, events } = await open(t, configured)
  const start = () => publishConfigured(publishedCatalog, configured)
  await start()
  await start()
  const byConfiguration = { type: 'PacksPublished', data: configured }
  t.same(await events(), [byConfiguration])
  const own = { packs: [studio] }
  unwrap(await list.publish(operator, own))
  t.equal(unwrap(await list.publish(operator, own)), undefined, 'nothing has changed')
  await start()
  const byHand = { type: 'PacksPublished', data: { ...own, byHand: true } }
  t.same(await events(), [byConfiguration, byHand])
  t.match(unwrap(await list.compare(operator)), { published: { ...own, byHand: true }, command: configured })
  unwrap(await list.publish(operator))
  t.same(await events(), [byConfiguration, byHand, byConfiguration])
  await publishConfigured(publishedCatalog, { packs: [] })
  t.same(
    (await events()).at(-1),
    { type: 'PacksPublished', data: { packs: [] } },
    'a start without PACKS sells nothing',
  )
})

t.test('the history of a family has no price list', async t => {
  const { list, publishedCatalog, log } = await open(t)
  await publishShipped(log, publishedCatalog, [family('lumen')])
  unwrap(await list.publish(operator, priceList))
  const offers = new Offers(publishedCatalog, accountsOn(log))
  const catalog = new Catalog({ offers, publishedCatalog, log, shipped: [] })
  unwrap(await catalog.publish(operator, [family('lumen', { name: 'Lumen Two' })]))
  t.match(unwrap(await catalog.history(operator, 'lumen')), [
    { type: 'FamilyRevised', revision: 2 },
    { type: 'FamilyPublished', revision: 0 },
  ])
})

t.test('processes that start together publish the list once', async t => {
  const { log, events } = await open(t)
  const starts = [1, 2, 3].map(() => publishConfigured(publishedOn(log, new ManualClock()), priceList))
  await Promise.all(starts)
  t.same(await events(), [{ type: 'PacksPublished', data: priceList }])
})
