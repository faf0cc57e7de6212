import type { CatalogEvent } from '../../schemas/catalog-events.ts'
import type { FreeAmount, Pack, PriceList } from '../../schemas/packs.ts'
import type { PublishPacks } from '../../src/domain/catalog/catalog.ts'
import { toMicros } from '../../src/domain/money.ts'

export const pack = (id = 'starter', differences: Partial<Pack> = {}): Pack => ({
  id,
  name: 'Starter',
  creditsMicros: toMicros(1_000),
  amount: '12.50',
  currency: 'EUR',
  ...differences,
})

/** A pack with all that it can have. */
export const studio = pack('studio', {
  name: 'Studio',
  creditsMicros: toMicros(10_000),
  bonusMicros: toMicros(500),
  amount: '119.00',
  taxCode: 'txcd_10000000',
  validDays: 365,
})

export const freeAmount = (differences: Partial<FreeAmount> = {}): FreeAmount => ({
  minCreditsMicros: toMicros(100),
  maxCreditsMicros: toMicros(50_000),
  amountPerCredit: '0.0125',
  currency: 'EUR',
  ...differences,
})

/** The price list that the OpenAPI document shows. */
export const priceList: PriceList = { packs: [pack(), studio], freeAmount: freeAmount() }

export const publishPacks = (list: PriceList): PublishPacks => ({ type: 'PublishPacks', ...list })
export const packsPublished = (list: PriceList): CatalogEvent => ({ type: 'PacksPublished', data: list })
