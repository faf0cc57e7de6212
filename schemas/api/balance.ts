import { type Static, Type } from 'typebox'
import { Closed } from '../primitives.ts'

export const Balance = Closed({ object: Type.Literal('balance'), credits_balance: Type.Number() })
export type Balance = Static<typeof Balance>
