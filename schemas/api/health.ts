import { type Static, Type } from 'typebox'
import { Closed } from '../primitives.ts'

export const Health = Closed({ status: Type.Literal('ok') })
export type Health = Static<typeof Health>

const Ok = Type.Literal('ok')

export const Readiness = Closed({
  status: Type.Literal('ready'),
  log: Ok,
  views: Ok,
  objects: Ok,
  disk: Ok,
  events_behind: Type.Integer({
    minimum: 0,
    description: 'The number of positions by which the views are behind the log; 0 if the views show every event.',
  }),
  free_bytes: Type.Integer({ minimum: 0, description: 'The free space of the disk of the data folder.' }),
})
export type Readiness = Static<typeof Readiness>
