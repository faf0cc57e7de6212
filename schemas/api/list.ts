import { type TSchema, Type } from 'typebox'
import { Closed, DEFAULT_PAGE, MAX_PAGE } from '../primitives.ts'
import { about } from './about.ts'

/** How many are wanted of a list, as text since it stands in the query. */
export const PageLimit = about(
  Type.String({ pattern: `^([1-9][0-9]?|${MAX_PAGE})$` }),
  `1 to ${MAX_PAGE}; ${DEFAULT_PAGE} if unset`,
  '50',
)

/** Where a page of a list begins. */
export const PageCursor = <Id extends TSchema>(id: Id) =>
  about(id, 'The `next_cursor` of the page before; none for the first')

/** A page of a list, the newest first. */
export const ListOf = <Item extends TSchema, Id extends TSchema>(item: Item, id: Id) =>
  Closed({
    object: Type.Literal('list'),
    data: about(Type.Array(item), 'The newest first.'),
    has_more: about(Type.Boolean(), 'Whether there is another page.'),
    next_cursor: about(Type.Union([id, Type.Null()]), 'What to ask for the next page with, as `cursor`.'),
  })
