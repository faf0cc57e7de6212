import type { Observable, Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import type { Changes } from '../engine/views/view-progress.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { every } from '../time/every.ts'
import { type DueWork, duePages, isDue, queuesOf } from './due-rows.ts'

/** More rows than this that were written during one round are read from the views instead of kept in memory. */
const MAX_WRITTEN = 1000

export interface DueLoopParts {
  views: ViewStore
  clock: Clock
  logger: Logger
}

export interface Worklist<Row extends DueRow> extends DueWork {
  /** How often to look for due work without being woken. */
  pollMs: number
  /** Takes due rows of one queue, from the first on. Returns how many; the queue has to wait with the rest. */
  take(rows: Row[]): Promise<number>
}

/** Due rows of one queue: the first are loaded, and the pages after them are read when they are needed. */
interface Offer<Row> {
  rows: Row[]
  pages: AsyncGenerator<Row[], undefined> | undefined
}

/**
 * Offers due work queue by queue: rows as they are written, and from time to time all that the views hold. A queue that
 * has to wait delays no other.
 */
export class DueLoop<Row extends DueRow> {
  readonly #parts: DueLoopParts
  readonly #worklist: Worklist<Row>
  /** Due rows that were written since the last round, by key, in the order of the log. */
  readonly #written = new Map<string, Row>()
  /** The work that is left of each queue that has to wait. */
  readonly #waiting = new Map<string, Offer<Row>>()
  #hasRoom = false
  #mustLook = false
  #stopLooking = () => {}
  #subscription: Subscription | undefined
  #round: Promise<void> | undefined
  #isFailing = false
  #stopped = false

  constructor(parts: DueLoopParts, worklist: Worklist<Row>) {
    this.#parts = parts
    this.#worklist = worklist
  }

  /** Looks now and at intervals, and offers the work that changes bring. */
  start(changes?: Observable<Changes>) {
    this.#subscription = changes?.subscribe(written => this.#notice(written))
    this.#stopLooking = every(this.#parts.clock, this.#worklist.pollMs, () => this.wake())
    this.wake()
  }

  /** Looks for due work soon. */
  wake() {
    this.#mustLook = true
    this.#proceed()
  }

  /** Offers again soon what had to wait. */
  resume() {
    this.#hasRoom = true
    this.#proceed()
  }

  async stop() {
    this.#stopped = true
    this.#subscription?.unsubscribe()
    this.#stopLooking()
    await this.#round
  }

  #notice(changes: Changes) {
    if (changes === 'unknown') return this.wake()
    for (const { view, key, row } of changes) {
      if (view !== 'due') continue
      this.#written.delete(key)
      if (row && isDue(row as DueRow, this.#worklist, this.#parts.clock)) this.#written.set(key, row as Row)
    }
    if (this.#written.size > MAX_WRITTEN) this.wake()
    else this.#proceed()
  }

  /** Starts a round if there is anything to do. What comes up during a round waits for its end. */
  #proceed() {
    // The look finds the written rows too.
    if (this.#mustLook) this.#written.clear()
    const mayOffer = this.#written.size > 0 || (this.#hasRoom && this.#waiting.size > 0)
    if (this.#stopped || this.#round || !(this.#mustLook || mayOffer)) return
    this.#round = this.#doRound().finally(() => {
      this.#round = undefined
      this.#proceed()
    })
  }

  async #doRound() {
    if (this.#mustLook) return this.#look()
    const written = [...this.#written.values()]
    this.#written.clear()
    if (this.#hasRoom) {
      this.#hasRoom = false
      for (const [queue, offer] of [...this.#waiting]) await this.#offer(queue, offer)
    }
    for (const queue of new Set(written.map(row => row.queue))) {
      // The pages after the rows that wait hold these rows too.
      if (this.#waiting.has(queue)) continue
      await this.#offer(queue, { rows: written.filter(row => row.queue === queue), pages: undefined })
    }
  }

  async #look() {
    this.#mustLook = false
    this.#hasRoom = false
    this.#waiting.clear()
    try {
      for await (const queue of queuesOf(this.#parts.views, this.#worklist)) {
        if (this.#stopped) return
        await this.#offer(queue, { rows: [], pages: this.#pages(queue) })
      }
      this.#report(undefined)
    } catch (error) {
      this.#report(error)
    }
  }

  /** A queue whose work fails must not block those after it. */
  async #offer(queue: string, offer: Offer<Row>) {
    this.#waiting.delete(queue)
    try {
      await this.#offerAll(queue, offer)
    } catch (error) {
      this.#parts.logger.error({ err: error, queue }, 'due work failed and will be retried')
    }
  }

  async #offerAll(queue: string, { rows, pages }: Offer<Row>) {
    for (let page: Row[] | undefined = rows; page && !this.#stopped; page = (await pages?.next())?.value) {
      const taken = page.length && (await this.#worklist.take(page))
      if (taken === page.length) continue
      this.#waiting.set(queue, { rows: page.slice(taken), pages: pages ?? this.#pages(queue) })
      return
    }
  }

  #pages(queue: string) {
    return duePages<Row>(this.#parts, this.#worklist, queue)
  }

  /** Logs only the first failure and the recovery, since there are many rounds a second. */
  #report(error: unknown) {
    const { queues } = this.#worklist
    if (error && !this.#isFailing) this.#parts.logger.error({ err: error, queues }, 'due work cannot be read; retrying')
    if (!error && this.#isFailing) this.#parts.logger.info({ queues }, 'due work can be read again')
    this.#isFailing = error !== undefined
  }
}

/** The rows to work on, as many from the first as there is room for; `taken` counts those that need no work, too. */
export const chooseFrom = <Row>(rows: Row[], needsWork: (row: Row) => boolean, reserve: (row: Row) => boolean) => {
  const full = rows.findIndex(row => needsWork(row) && !reserve(row))
  const taken = full === -1 ? rows.length : full
  return { chosen: rows.slice(0, taken).filter(needsWork), taken }
}
