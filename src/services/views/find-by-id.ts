import type { Views } from '../../../schemas/views.ts'
import type { Reads } from './reads.ts'

/** The row of an ID in a view with the index `byId`. */
export const findById = async <Name extends 'runs' | 'archivedRuns' | 'keys' | 'uploads' | 'purchases'>(
  reads: Pick<Reads, 'list'>,
  view: Name,
  id: string,
): Promise<Views[Name] | undefined> => {
  const [entry] = await reads.list(view, 'byId', { prefix: id, limit: 1 })
  // An ID may be the start of another text.
  return entry?.place === id ? entry.row : undefined
}
