import { filter, type Observable, type Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import { type Changes, mayHold } from '../engine/views/view-progress.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { RowChange, ViewStore } from '../ports/view-store.ts'
import { every } from '../time/every.ts'

/** Due rows that are read together: somewhat more than one round can accept from most queues. */
const PAGE = 100

/** Sorts after every character in a place. */
const LAST = '\uffff'

export interface DueLoopParts {
  views: ViewStore
  clock: Clock
  logger: Logger
}

export interface Worklist<Row extends DueRow> {
  /** The prefix of its queues' names; see `projections/due.ts`. */
  queues: string
  /** How often to look for due work without being woken. */
  pollMs: number
  /** A row that is due later than this from now was written while a clock was ahead, so it is due at once. */
  maxAheadMs?: number
  /** Takes as many of the due rows of one queue as it can. False if the queue has to wait. */
  take(rows: Row[]): Promise<boolean>
}

/** Looks for due work repeatedly, queue by queue. A queue that has to wait delays no other. */
export class DueLoop<Row extends DueRow> {
  readonly #parts: DueLoopParts
  readonly #worklist: Worklist<Row>
  #stopLooking = () => {}
  #subscription: Subscription | undefined
  #round: Promise<void> | undefined
  #again = false
  #isFailing = false
  #stopped = false

  constructor(parts: DueLoopParts, worklist: Worklist<Row>) {
    this.#parts = parts
    this.#worklist = worklist
  }

  /** Looks now, at every change that brings work, and at intervals. */
  start(changes?: Observable<Changes>) {
    const { queues, pollMs } = this.#worklist
    const bringsWork = ({ view, row }: RowChange) =>
      view === 'due' && row !== undefined && this.#isDue(row as DueRow, queues)
    this.#subscription = changes?.pipe(filter(written => mayHold(written, bringsWork))).subscribe(() => this.wake())
    this.#stopLooking = every(this.#parts.clock, pollMs, () => this.wake())
    this.wake()
  }

  /** Looks for due work soon. */
  wake() {
    if (this.#stopped) return
    if (this.#round) {
      this.#again = true
      return
    }
    this.#round = this.#look()
      .then(() => this.#report(undefined))
      .catch(error => this.#report(error))
      .finally(() => {
        this.#round = undefined
        if (this.#again) {
          this.#again = false
          this.wake()
        }
      })
  }

  async stop() {
    this.#stopped = true
    this.#subscription?.unsubscribe()
    this.#stopLooking()
    await this.#round
  }

  /** Logs only the first failure and the recovery, since there are many rounds a second. */
  #report(error: unknown) {
    const { queues } = this.#worklist
    if (error && !this.#isFailing) this.#parts.logger.error({ err: error, queues }, 'due work cannot be read; retrying')
    if (!error && this.#isFailing) this.#parts.logger.info({ queues }, 'due work can be read again')
    this.#isFailing = error !== undefined
  }

  /** Rows that are due later do not wake the loop. */
  #isDue({ queue, dueAt }: DueRow, queues: string): boolean {
    const { maxAheadMs = Number.POSITIVE_INFINITY } = this.#worklist
    const aheadMs = Date.parse(dueAt) - this.#parts.clock.nowMs()
    return queue.startsWith(queues) && (aheadMs <= 0 || aheadMs > maxAheadMs)
  }

  async #look() {
    const { views, logger } = this.#parts
    let after: string | undefined
    while (!this.#stopped) {
      const range = { prefix: this.#worklist.queues, after, limit: 1 }
      const [first] = await views.list<Row>('due', 'byQueue', range)
      if (!first) return
      const { queue } = first.row
      // A queue whose work fails must not block those after it.
      await this.#lookInto(queue).catch(error =>
        logger.error({ err: error, queue }, 'due work failed and will be retried'),
      )
      after = `${queue}/${LAST}`
    }
  }

  async #lookInto(queue: string) {
    const { maxAheadMs } = this.#worklist
    const nowMs = this.#parts.clock.nowMs()
    // A place is `<queue>/<time>/<run>`, so rows that are due in this millisecond sort before the next one.
    const placeAfter = (ms: number) => `${queue}/${new Date(ms + 1).toISOString()}`
    // Rows that were written before a clock went back are older than those due now.
    if (maxAheadMs !== undefined && !(await this.#takeAll(queue, { after: placeAfter(nowMs + maxAheadMs) }))) return
    await this.#takeAll(queue, { before: placeAfter(nowMs) })
  }

  /** Takes the rows of a queue between two places, page by page. False if the queue has to wait. */
  async #takeAll(queue: string, { after, before }: { after?: string; before?: string }): Promise<boolean> {
    let reached = after
    while (!this.#stopped) {
      const range = { prefix: `${queue}/`, after: reached, before, limit: PAGE }
      const page = await this.#parts.views.list<Row>('due', 'byQueue', range)
      if (page.length === 0) return true
      if (!(await this.#worklist.take(page.map(entry => entry.row)))) return false
      reached = page.at(-1)?.place
    }
    return false
  }
}
