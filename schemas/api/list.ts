import { type TSchema, Type } from 'typebox'
import { Closed } from '../primitives.ts'

/** How many are wanted of a list, as text since it stands in the query. */
export const PageLimit = Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 20 if unset' })

/** A page of a list, the newest first. `next_cursor` is what to ask for the following page with. */
export const ListOf = <Item extends TSchema, Id extends TSchema>(item: Item, id: Id) =>
  Closed({
    object: Type.Literal('list'),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([id, Type.Null()]),
  })
