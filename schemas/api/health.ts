import { type Static, Type } from 'typebox'
import { Closed } from '../primitives.ts'

export const Health = Closed({ status: Type.Literal('ok') })
export type Health = Static<typeof Health>

const Ok = Type.Literal('ok')

export const Readiness = Closed({ status: Type.Literal('ready'), log: Ok, views: Ok, objects: Ok })
export type Readiness = Static<typeof Readiness>
