import { type TSchema, Type } from 'typebox'
import { Closed, DEFAULT_PAGE, MAX_PAGE } from '../primitives.ts'
import { about } from './about.ts'

/** The size of a page. */
export const PageLimit = about(
  Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE }),
  'The maximum number of items on the page.',
  50,
)

/** The start of a page. */
export const PageCursor = <Id extends TSchema>(id: Id) =>
  about(id, 'The `next_cursor` of the previous page, even if that page was empty. Omit it for the first page.')

/** A page of a list, newest first. */
export const ListOf = <Item extends TSchema, Id extends TSchema>(item: Item, id: Id) =>
  Closed({
    object: Type.Literal('list'),
    data: about(
      Type.Array(item),
      'The items, newest first. A page may have fewer items than `limit`, or none, even if `has_more` is true.',
    ),
    has_more: about(Type.Boolean(), 'Whether more items may follow. Continue with `next_cursor` until it is false.'),
    next_cursor: about(Type.Union([id, Type.Null()]), 'The `cursor` of the next page; null on the last page.'),
  })
