import { type Static, Type } from 'typebox'
import { Closed } from '../primitives.ts'
import { about } from './about.ts'

export const Balance = Closed({
  object: Type.Literal('balance'),
  credits_balance: about(Type.Number(), 'The credits available to spend, with up to six decimals.', 87.5),
})
export type Balance = Static<typeof Balance>
