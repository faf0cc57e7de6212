import { type AccountId, MAX_PAGE, type RunId, type UploadId } from '../../../schemas/primitives.ts'
import type { Views } from '../../../schemas/views.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { Reads } from './reads.ts'

/** Rows looked at for one page of a filtered list, so that what is rare cannot make a request read a whole history. */
const MAX_SCANNED = 2000
/** The largest limit, and the one row more that shows that there is more. */
const SCAN_PAGE = MAX_PAGE + 1

interface Wanted<Row, Id> {
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

/** The views whose keys are an account and an id, which rises with time. */
interface Ids {
  runs: RunId
  uploads: UploadId
}

/** A page of what an account has in a view, the newest first. */
export const listNewest = async <Name extends keyof Ids>(
  reads: Reads,
  view: Name,
  accountId: AccountId,
  { limit, cursor, matches }: Wanted<Views[Name], Ids[Name]>,
): Promise<Page<Views[Name], Ids[Name]>> => {
  await reads.ownWrites(accountId)
  const prefix = `${accountId}/`
  const found: Views[Name][] = []
  let shown: Ids[Name] | null = null
  let last = cursor
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_PAGE) {
    const after = last && prefix + last
    const entries = await reads.list(view, BY_KEY, { prefix, after, newestFirst: true, limit: SCAN_PAGE })
    for (const { key, row } of entries) {
      last = key.slice(prefix.length) as Ids[Name]
      if (!matches(row)) continue
      // One more than asked for shows that there is more.
      if (found.length === limit) return { found, next: shown }
      found.push(row)
      shown = last
    }
    if (entries.length < SCAN_PAGE) return { found, next: null }
  }
  return { found, next: last ?? null }
}
