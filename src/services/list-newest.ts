import { MAX_PAGE } from '../../schemas/primitives.ts'
import type { Views } from '../../schemas/views.ts'
import { BY_KEY } from '../ports/view-store.ts'
import type { Reads } from './reads.ts'

/** Rows read at a time: the largest page, plus one that shows whether there are more. */
const SCAN_PAGE = MAX_PAGE + 1

/** Rows examined for one page of a filtered list. Reading and checking them takes about 25 ms of the event loop. */
const MAX_SCANNED = 20 * SCAN_PAGE

interface PageQuery<Row, Id> {
  limit: number
  /** The id of the last row of the page before. */
  cursor?: Id | undefined
  matches(row: Row): boolean
}

/** `next` is the cursor of the following page, or null at the end. */
export interface Page<Row, Id> {
  found: Row[]
  next: Id | null
}

/** A page of an owner's rows, newest first, from a view whose keys are `<owner>/<id>` with ids that rise over time. */
export const listNewest = async <Name extends keyof Views, Id extends string>(
  reads: Reads,
  view: Name,
  owner: string,
  { limit, cursor, matches }: PageQuery<Views[Name], Id>,
): Promise<Page<Views[Name], Id>> => {
  await reads.ownWrites(owner)
  const prefix = `${owner}/`
  const found: Views[Name][] = []
  let shown: Id | null = null
  let last = cursor
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_PAGE) {
    const after = last && prefix + last
    const entries = await reads.list(view, BY_KEY, { prefix, after, newestFirst: true, limit: SCAN_PAGE })
    for (const { key, row } of entries) {
      last = key.slice(prefix.length) as Id
      if (!matches(row)) continue
      // One match more than requested shows that there are more.
      if (found.length === limit) return { found, next: shown }
      found.push(row)
      shown = last
    }
    if (entries.length < SCAN_PAGE) return { found, next: null }
  }
  return { found, next: last ?? null }
}
