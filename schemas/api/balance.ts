import { type Static, Type } from 'typebox'
import { Closed, Timestamp } from '../primitives.ts'
import { about } from './about.ts'

export const Balance = Closed({
  object: Type.Literal('balance'),
  credits_balance: about(Type.Number(), 'The credits available to spend, with up to six decimals.', 87.5),
  credits_paid: Type.Optional(
    about(
      Type.Number(),
      [
        'The part of the balance that was bought. Like `credits_free`, missing from a past balance, and while it is',
        'unknown after a refund of an old run.',
      ].join(' '),
      50,
    ),
  ),
  credits_free: Type.Optional(
    about(Type.Number(), 'The part of the balance that was granted in another way. Runs use it first.', 37.5),
  ),
  credits_expiring: Type.Optional(
    about(
      Closed({ credits: Type.Number(), expires_at: Timestamp }),
      'The credits that expire next, and when. Missing if none expire.',
      { credits: 20, expires_at: '2026-12-24T00:00:00.000Z' },
    ),
  ),
  credits_owed: Type.Optional(
    about(
      Type.Number(),
      [
        'Credits that were used, and whose payment was disputed. They are not part of the balance. While there are',
        'any, nothing runs; the next credits pay them first. Missing if there are none.',
      ].join(' '),
      120,
    ),
  ),
  credits_held: Type.Optional(
    about(
      Type.Number(),
      [
        'The credits that were debited for runs that have not ended, which are not part of the balance. Missing from a',
        'past balance.',
      ].join(' '),
      10,
    ),
  ),
})
export type Balance = Static<typeof Balance>
