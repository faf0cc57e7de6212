import { type Static, Type } from 'typebox'
import { Line } from './names.ts'
import { Closed, Currency, MAX_GRANT_MICROS, MAX_NAME_LENGTH, MoneyAmount, Slug } from './primitives.ts'

/** The most packs for sale. One page shows them all. */
export const MAX_PACKS = 20

/** The longest validity of bought credits: ten years. */
export const MAX_VALID_DAYS = 3650

const SoldMicros = Type.Integer({ minimum: 1, maximum: MAX_GRANT_MICROS })

/** `taxCode` is Stripe's (https://docs.stripe.com/tax/tax-codes). Without `validDays`, the credits do not expire. */
const terms = {
  currency: Currency,
  taxCode: Type.Optional(Type.String({ pattern: '^txcd_[0-9]{8}$' })),
  validDays: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_VALID_DAYS })),
}

/** Credits at a fixed price. `bonusMicros` are free credits on top. */
export const Pack = Closed({
  id: Slug,
  name: Line(MAX_NAME_LENGTH),
  creditsMicros: SoldMicros,
  bonusMicros: Type.Optional(SoldMicros),
  /** With exactly the decimals of the currency. */
  amount: MoneyAmount,
  ...terms,
})
export type Pack = Static<typeof Pack>

/** Any number of credits between two bounds, at a price for each credit. */
export const CustomAmount = Closed({
  minCreditsMicros: SoldMicros,
  maxCreditsMicros: SoldMicros,
  amountPerCredit: Type.String({ pattern: '^(0|[1-9][0-9]{0,5})(\\.[0-9]{1,6})?$' }),
  ...terms,
})
export type CustomAmount = Static<typeof CustomAmount>

/** All that is for sale. */
export const PriceList = Closed({
  packs: Type.Array(Pack, { maxItems: MAX_PACKS }),
  customAmount: Type.Optional(CustomAmount),
})
export type PriceList = Static<typeof PriceList>
