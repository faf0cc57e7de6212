import { type Static, Type } from 'typebox'
import { MAX_PACKS, MAX_VALID_DAYS } from '../packs.ts'
import { Closed, Currency, MoneyAmount, Slug, Url } from '../primitives.ts'
import { about } from './about.ts'

const Credits = (description: string, example: number) => about(Type.Number({ minimum: 0 }), description, example)

const price = {
  amount: about(MoneyAmount, 'The price as a decimal number, with the decimals of the currency.', '12.50'),
  currency: about(Currency, 'The currency of the price, by ISO 4217.', 'EUR'),
}

const validDays = about(
  Type.Union([Type.Integer({ minimum: 1, maximum: MAX_VALID_DAYS }), Type.Null()]),
  'The days after the payment for which the credits can be used; null if they do not expire.',
  365,
)

const PackName = Type.String({ description: 'The name of the pack, for people.', examples: ['Starter'] })

export const Pack = Closed({
  object: Type.Literal('pack'),
  id: about(Slug, 'The ID of the pack.', 'starter'),
  name: PackName,
  credits: Credits('The credits that the price buys.', 1000),
  bonus_credits: Credits('Free credits on top.', 50),
  ...price,
  valid_days: validDays,
})
export type Pack = Static<typeof Pack>

export const CustomAmount = Closed({
  min_credits: Credits('The fewest credits.', 100),
  max_credits: Credits('The most credits.', 100_000),
  amount_per_credit: about(
    Type.String({ pattern: '^[0-9]+(\\.[0-9]{1,6})?$' }),
    'The price of a credit as a decimal number. The price of all credits is rounded up.',
    '0.0125',
  ),
  currency: price.currency,
  valid_days: validDays,
})
export type CustomAmount = Static<typeof CustomAmount>

export const PackList = Closed({
  object: Type.Literal('list'),
  data: about(Type.Array(Pack, { maxItems: MAX_PACKS }), 'The packs for sale, in the order of the operator.'),
  custom_amount: about(
    Type.Union([CustomAmount, Type.Null()]),
    'The bounds and the price of amounts that the buyer chooses; null if only packs are for sale.',
  ),
})
export type PackList = Static<typeof PackList>

/** An offer to an account that lacks credits. */
export const CreditsOffer = Closed({
  object: Type.Literal('offer'),
  pack: about(Type.Union([Slug, Type.Null()]), 'The ID of the pack; null for a custom amount of credits.', 'starter'),
  name: PackName,
  credits: Pack.properties.credits,
  bonus_credits: Pack.properties.bonus_credits,
  ...price,
  valid_days: validDays,
  buy_url: about(
    Url,
    'The page where the owner of the account buys it.',
    'https://tollgate.example.com/console/credits?pack=starter',
  ),
})
export type CreditsOffer = Static<typeof CreditsOffer>
