import { type Static, Type } from 'typebox'
import { Closed, MAX_GRANT_MICROS } from '../primitives.ts'
import { about } from './about.ts'
import { Timestamp } from './common.ts'
import { Pack } from './packs.ts'
import { NewPurchase } from './purchase.ts'

const Credits = (description: string, example: number) =>
  about(Type.Number({ exclusiveMinimum: 0, maximum: MAX_GRANT_MICROS / 1_000_000 }), description, example)

const settings = {
  below_credits: Credits('The service buys credits when a run leaves less than this.', 100),
  credits: Type.Optional(Credits('The credits that it buys each time.', 500)),
  target_credits: Type.Optional(
    Credits('In place of `credits`: it buys as many, rounded up, as bring the balance to this.', 1000),
  ),
  monthly_amount: about(
    Pack.properties.amount,
    'The most that top-ups may cost in a calendar month in UTC, in the currency of the price list.',
    '50.00',
  ),
}

export const NewTopUp = Closed({ ...settings, begin_at_once: NewPurchase.properties.begin_at_once })
export type NewTopUp = Static<typeof NewTopUp>

export const TopUp = Closed({
  object: Type.Literal('top_up'),
  ...settings,
  currency: Pack.properties.currency,
  monthly_amount_paid: about(Pack.properties.amount, 'What top-ups have cost this month.', '12.50'),
  due_at: Type.Optional(
    about(Timestamp, 'When the service makes the next attempt: now, after a pause, or in the next month.'),
  ),
  purchase_id: Type.Optional(about(Type.String(), 'The purchase of the attempt that is under way.')),
  failures: about(
    Type.Integer({ minimum: 0 }),
    'Failed attempts since the last payment. The third turns top-ups off.',
    0,
  ),
})
export type TopUp = Static<typeof TopUp>

export const RemovedTopUp = Closed({ object: Type.Literal('top_up'), removed: Type.Literal(true) })
export type RemovedTopUp = Static<typeof RemovedTopUp>
