import { DEFAULT_PAGE } from '../../schemas/primitives.ts'
import type { Page } from '../services/views/newest-first.ts'

/** The limit of a list from its query. */
export const limitOf = ({ limit = DEFAULT_PAGE }: { limit?: number }): number => limit

/** A page in the API's form. */
export const showPage = <Row, Id extends string, Shown>({ found, next }: Page<Row, Id>, show: (row: Row) => Shown) => ({
  object: 'list' as const,
  data: found.map(show),
  has_more: next !== null,
  next_cursor: next,
})
