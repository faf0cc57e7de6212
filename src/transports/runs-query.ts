import type { Static } from 'typebox'
import type { RunsFilter } from '../../schemas/api/run.ts'
import type { RunsQuery } from '../services/runs/run-reads.ts'
import { limitOf } from './list-page.ts'
import { periodOf } from './moment.ts'

/** The runs that a query, or a tool's arguments, ask for. Throws invalid_request for a time that does not exist. */
export const runsQueryOf = (query: Static<typeof RunsFilter>, part = 'query'): RunsQuery => {
  const { cursor, status, model, label, key_id: keyId } = query
  return { cursor, status, model, label, keyId, ...periodOf(query, part), limit: limitOf(query) }
}
