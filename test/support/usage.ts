import { Subject } from 'rxjs'
import { fold } from '../../projections/define.ts'
import { usage, usageByLabel } from '../../projections/usage.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import type { UsageRow } from '../../schemas/views.ts'
import type { Changes } from '../../src/engine/views/view-progress.ts'
import type { Range } from '../../src/ports/view-store.ts'
import { Usage, type UsagePage, type UsageQuery } from '../../src/services/usage/usage.ts'
import type { WaitingClient } from '../../src/services/views/newest-first.ts'
import type { Reads } from '../../src/services/views/reads.ts'
import { accountId } from './account-samples.ts'
import { ManualClock } from './manual-clock.ts'
import { unwrap } from './unwrap.ts'

/** Reads of the views that events make, kept in memory, and how many rows were read. */
export const usageReads = (events: Recorded[]) => {
  const viewsOf = (known: Recorded[]) =>
    Object.fromEntries([usage, usageByLabel].map(each => [each.view, rowsOf(each, known)]))
  let views = viewsOf(events)
  const counts = { rows: 0 }
  const list = async (view: string, _index: string, { prefix, after = '', before = '~', limit }: Range) => {
    await new Promise(setImmediate)
    const isWithin = (key: string) => key.startsWith(prefix) && key > after && key < before
    const rows = (views[view] ?? []).filter(({ key }) => isWithin(key)).slice(0, limit)
    counts.rows += rows.length
    return rows.map(({ key, row }) => ({ place: key, key, row }))
  }
  const changes = new Subject<Changes>()
  /** Adds an event to the views, and reports the rows that change, or that any row may have changed. */
  const add = (event: Recorded, isReported = true) => {
    views = viewsOf([...events, event])
    const rows = [usage, usageByLabel].map(({ view, key }) => ({ view, key: key(event as never) as string }))
    changes.next(isReported ? rows : 'unknown')
  }
  async function* scan(view: string, index: string, range: Omit<Range, 'limit'>) {
    yield* await list(view, index, { ...range, limit: Number.POSITIVE_INFINITY })
  }
  return { counts, add, reads: { ownWrites: () => undefined, list, scan, changes } as unknown as Reads }
}

const rowsOf = (projection: typeof usage | typeof usageByLabel, events: Recorded[]) => {
  const rows = new Map<string, UsageRow>()
  for (const event of events) {
    if (!(event.type in projection.on)) continue
    const key = projection.key(event) as string
    rows.set(key, fold(projection, [event], rows.get(key)) as UsageRow)
  }
  return [...rows].map(([key, row]) => ({ key, row })).sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** The owner of the first numbered account. */
export const owner = { kind: 'key', accountId: accountId(), keyId: 'key_0', scope: 'full' } as const

/** The service over rows in memory, at a time. */
export const usageService = (
  events: Recorded[],
  now: string,
  limits: { sliceRows?: number; maxRows?: number } = {},
) => {
  const { counts, add, reads } = usageReads(events)
  const service = new Usage({ reads, clock: new ManualClock(Date.parse(now)), ...limits })
  const page = async (query: Partial<UsageQuery>, client?: WaitingClient): Promise<UsagePage> =>
    unwrap(await service.list(owner, { groupBy: [], limit: 20, ...query }, client))
  /** All groups of a query, page by page. */
  const all = async (query: Partial<UsageQuery>): Promise<UsagePage['found']> => {
    const { found, next } = await page(query)
    return next === null ? found : [...found, ...(await all({ ...query, cursor: next }))]
  }
  return { service, counts, add, page, all }
}
