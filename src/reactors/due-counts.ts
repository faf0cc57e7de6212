import type { DueRow } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { accountQueueOf, duePages } from './due-rows.ts'

/** The account queues and the rows that are looked at, so that a scrape takes no more than a moment. */
const MAX_ACCOUNT_QUEUES = 1_000
const MAX_COUNTED = 10_000

/** Sorts after every character in a place. */
const LAST = '\uffff'

interface Dependencies {
  views: ViewStore
  clock: Clock
}

/** Counts the due rows of all queues with a prefix, up to the limits. */
export const countDue = async ({ views, clock }: Dependencies, queues: string) => {
  let length = 0
  let oldestMs = clock.nowMs()
  let after: string | undefined
  for (let seen = 0; seen < MAX_ACCOUNT_QUEUES && length < MAX_COUNTED; seen++) {
    const [first] = await views.list<DueRow>('due', 'byQueue', { prefix: queues, after, limit: 1 })
    if (!first) break
    const name = accountQueueOf(first.row)
    // The oldest row of an account queue comes first.
    if (Date.parse(first.row.dueAt) <= clock.nowMs()) {
      oldestMs = Math.min(oldestMs, Date.parse(first.row.dueAt))
      for await (const page of duePages<DueRow>({ views, clock }, { queues }, name)) {
        length += page.length
        if (length >= MAX_COUNTED) break
      }
    }
    after = `${name}/${LAST}`
  }
  return { length, oldestSeconds: (clock.nowMs() - oldestMs) / 1000 }
}
