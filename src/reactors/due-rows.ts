import type { DueRow } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'
import type { Range, ViewStore } from '../ports/view-store.ts'

/** Rows that are read together: somewhat more than one round can accept from most queues. */
const PAGE = 100

/** Sorts after every character in a place. */
const LAST = '\uffff'

/** One kind of due work. */
export interface DueWork {
  /** The prefix of its queues' names; see `projections/due.ts`. */
  queues: string
  /** A row that is due later than this from now was written while a clock was ahead, so it is due at once. */
  maxAheadMs?: number
}

/** Whether a row is work of this kind, and due. */
export const isDue = ({ queue, dueAt }: DueRow, { queues, maxAheadMs }: DueWork, clock: Clock): boolean => {
  if (!queue.startsWith(queues)) return false
  const aheadMs = Date.parse(dueAt) - clock.nowMs()
  return aheadMs <= 0 || (maxAheadMs !== undefined && aheadMs > maxAheadMs)
}

/** The names of the queues that hold rows, due or not. */
export async function* queuesOf(views: ViewStore, { queues }: DueWork): AsyncGenerator<string> {
  let after: string | undefined
  while (true) {
    const [first] = await views.list<DueRow>('due', 'byQueue', { prefix: queues, after, limit: 1 })
    if (!first) return
    const { queue } = first.row
    yield queue
    after = `${queue}/${LAST}`
  }
}

interface Parts {
  views: ViewStore
  clock: Clock
}

/** The due rows of a queue, page by page: what is due when the page is read. */
export async function* duePages<Row extends DueRow>(
  { views, clock }: Parts,
  { maxAheadMs }: DueWork,
  queue: string,
): AsyncGenerator<Row[], undefined> {
  // A place is `<queue>/<time>/<run>`, so rows that are due in this millisecond sort before the next one.
  const placeInMs = (ms: number) => `${queue}/${new Date(clock.nowMs() + ms + 1).toISOString()}`
  // Rows that were written before a clock went back are older than those due now.
  if (maxAheadMs !== undefined) yield* pages<Row>(views, queue, () => ({ after: placeInMs(maxAheadMs) }))
  yield* pages<Row>(views, queue, () => ({ before: placeInMs(0) }))
}

async function* pages<Row>(
  views: ViewStore,
  queue: string,
  limits: () => Pick<Range, 'after' | 'before'>,
): AsyncGenerator<Row[], undefined> {
  let reached: string | undefined
  while (true) {
    const { after, before } = limits()
    const range = { prefix: `${queue}/`, after: reached ?? after, before, limit: PAGE }
    const page = await views.list<Row>('due', 'byQueue', range)
    if (page.length === 0) return
    yield page.map(entry => entry.row)
    reached = page.at(-1)?.place
  }
}
