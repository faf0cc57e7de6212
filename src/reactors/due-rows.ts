import type { DueRow } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'
import type { Range, ViewStore } from '../ports/view-store.ts'

/** Rows that are read together. While an account has to wait, the unread rows of its page stay in memory. */
const PAGE = 50

/** Account queues that are yielded together, at most. */
const MAX_ACCOUNT_QUEUES = 100

/** Sorts after every character in a place. */
const LAST = '\uffff'

/** One kind of due work. */
export interface DueWork {
  /** The prefix of its queues' names; see `projections/due.ts`. */
  queues: string
  /** A row that is due later than this from now was written while a clock was ahead, so it is due at once. */
  maxAheadMs?: number
}

/** The due rows of one account in one queue: the first are loaded, and the pages after them are read when needed. */
export interface AccountQueue<Row extends DueRow> {
  name: string
  queue: string
  rows: Row[]
  pages: AsyncGenerator<Row[], undefined> | undefined
}

interface Dependencies {
  views: ViewStore
  clock: Clock
}

/** Whether a row is work of this kind, and due. */
export const isDue = ({ queue, dueAt }: DueRow, { queues, maxAheadMs }: DueWork, clock: Clock): boolean => {
  if (!queue.startsWith(queues)) return false
  const aheadMs = Date.parse(dueAt) - clock.nowMs()
  return aheadMs <= 0 || (maxAheadMs !== undefined && aheadMs > maxAheadMs)
}

/** A place is `<queue>/<account>/<time>/<key>`, so the rows of an account queue lie together. */
export const accountQueueOf = ({ queue, accountId }: DueRow): string => `${queue}/${accountId}`

/**
 * The account queues with due rows, queue by queue. A page holds the start of a long account queue, or many short ones.
 */
export async function* accountQueuesByQueue<Row extends DueRow>(
  dependencies: Dependencies,
  work: DueWork,
): AsyncGenerator<AccountQueue<Row>[]> {
  let accountQueues: AccountQueue<Row>[] = []
  for await (const accountQueue of allAccountQueues<Row>(dependencies, work)) {
    if (
      accountQueues.length === MAX_ACCOUNT_QUEUES ||
      (accountQueues[0] && accountQueues[0].queue !== accountQueue.queue)
    ) {
      yield accountQueues
      accountQueues = []
    }
    accountQueues.push(accountQueue)
  }
  if (accountQueues.length > 0) yield accountQueues
}

async function* allAccountQueues<Row extends DueRow>(
  dependencies: Dependencies,
  work: DueWork,
): AsyncGenerator<AccountQueue<Row>> {
  let after: string | undefined
  while (true) {
    const page = await dependencies.views.list<Row>('due', 'byQueue', { prefix: work.queues, after, limit: PAGE })
    const accountQueues = [...byAccountQueue(page.map(entry => entry.row))]
    // The page may have cut the last account queue.
    const cut = page.length < PAGE ? undefined : accountQueues.pop()
    for (const [name, rows] of accountQueues) {
      const due = rows.filter(row => isDue(row, work, dependencies.clock))
      if (due.length > 0) yield { name, queue: queueOf(rows), rows: due, pages: undefined }
    }
    if (!cut) return
    const [name, rows] = cut
    after = accountQueues.length > 0 ? page.at(-1 - rows.length)?.place : `${name}/${LAST}`
    if (accountQueues.length === 0)
      yield { name, queue: queueOf(rows), rows: [], pages: duePages(dependencies, work, name) }
  }
}

const queueOf = ([row]: DueRow[]) => (row as DueRow).queue

/** Rows by the names of their account queues, in the same order. */
export const byAccountQueue = <Row extends DueRow>(rows: Row[]): Map<string, Row[]> => groupBy(rows, accountQueueOf)

/** Account queues by the names of their queues, in the same order. */
export const byQueue = <Row extends DueRow>(accountQueues: AccountQueue<Row>[]): Map<string, AccountQueue<Row>[]> =>
  groupBy(accountQueues, accountQueue => accountQueue.queue)

const groupBy = <Item>(items: Item[], nameOf: (item: Item) => string): Map<string, Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const name = nameOf(item)
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return groups
}

/** The due rows of an account queue, page by page. Each page holds the rows that are due when the page is read. */
export async function* duePages<Row extends DueRow>(
  { views, clock }: Dependencies,
  { maxAheadMs }: DueWork,
  accountQueue: string,
): AsyncGenerator<Row[], undefined> {
  // Rows that are due in this millisecond sort before the next one.
  const placeInMs = (ms: number) => `${accountQueue}/${new Date(clock.nowMs() + ms + 1).toISOString()}`
  // Rows that were written before a clock went back are older than the rows due now.
  if (maxAheadMs !== undefined) yield* pages<Row>(views, accountQueue, () => ({ after: placeInMs(maxAheadMs) }))
  yield* pages<Row>(views, accountQueue, () => ({ before: placeInMs(0) }))
}

async function* pages<Row>(
  views: ViewStore,
  accountQueue: string,
  limits: () => Pick<Range, 'after' | 'before'>,
): AsyncGenerator<Row[], undefined> {
  let reached: string | undefined
  while (true) {
    const { after, before } = limits()
    const range = { prefix: `${accountQueue}/`, after: reached ?? after, before, limit: PAGE }
    const page = await views.list<Row>('due', 'byQueue', range)
    if (page.length === 0) return
    yield page.map(entry => entry.row)
    reached = page.at(-1)?.place
  }
}
