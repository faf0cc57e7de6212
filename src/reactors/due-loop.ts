import type { Observable, Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import type { Changes } from '../engine/views/view-progress.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Range, ViewStore } from '../ports/view-store.ts'
import { every } from '../time/every.ts'

/** Due rows that are read together: somewhat more than one round can accept from most queues. */
const PAGE = 100

/** More rows than this that were written during one round are read from the views instead of kept in memory. */
const MAX_WRITTEN = 1000

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
  /** Takes due rows of one queue, from the first on. Returns how many; the queue has to wait with the rest. */
  take(rows: Row[]): Promise<number>
}

/** Due rows of a queue: some that are loaded, and perhaps pages of those after them. */
interface DueRows<Row> {
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
  /** What the queues that have to wait could not take yet. */
  readonly #waiting = new Map<string, DueRows<Row>>()
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
      if (row && this.#isDue(row as DueRow)) this.#written.set(key, row as Row)
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
      for (const [queue, due] of [...this.#waiting]) await this.#offer(queue, due)
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
      for await (const queue of this.#queues()) await this.#offer(queue, { rows: [], pages: this.#pages(queue) })
      this.#report(undefined)
    } catch (error) {
      this.#report(error)
    }
  }

  /** A queue whose work fails must not block those after it. */
  async #offer(queue: string, due: DueRows<Row>) {
    this.#waiting.delete(queue)
    try {
      await this.#offerAll(queue, due)
    } catch (error) {
      this.#parts.logger.error({ err: error, queue }, 'due work failed and will be retried')
    }
  }

  async #offerAll(queue: string, { rows, pages }: DueRows<Row>) {
    for (let page: Row[] | undefined = rows; page && !this.#stopped; page = (await pages?.next())?.value) {
      const taken = page.length && (await this.#worklist.take(page))
      if (taken === page.length) continue
      this.#waiting.set(queue, { rows: page.slice(taken), pages: pages ?? this.#pages(queue) })
      return
    }
  }

  /** Logs only the first failure and the recovery, since there are many rounds a second. */
  #report(error: unknown) {
    const { queues } = this.#worklist
    if (error && !this.#isFailing) this.#parts.logger.error({ err: error, queues }, 'due work cannot be read; retrying')
    if (!error && this.#isFailing) this.#parts.logger.info({ queues }, 'due work can be read again')
    this.#isFailing = error !== undefined
  }

  #isDue({ queue, dueAt }: DueRow): boolean {
    const { queues, maxAheadMs = Number.POSITIVE_INFINITY } = this.#worklist
    if (!queue.startsWith(queues)) return false
    const aheadMs = Date.parse(dueAt) - this.#parts.clock.nowMs()
    return aheadMs <= 0 || aheadMs > maxAheadMs
  }

  async *#queues() {
    let after: string | undefined
    while (!this.#stopped) {
      const range = { prefix: this.#worklist.queues, after, limit: 1 }
      const [first] = await this.#parts.views.list<Row>('due', 'byQueue', range)
      if (!first) return
      const { queue } = first.row
      yield queue
      after = `${queue}/${LAST}`
    }
  }

  /** The due rows of a queue, page by page. */
  async *#pages(queue: string): AsyncGenerator<Row[], undefined> {
    const { maxAheadMs } = this.#worklist
    // A place is `<queue>/<time>/<run>`, so rows that are due in this millisecond sort before the next one.
    const placeInMs = (ms: number) => `${queue}/${new Date(this.#parts.clock.nowMs() + ms + 1).toISOString()}`
    // Rows that were written before a clock went back are older than those due now.
    if (maxAheadMs !== undefined) yield* this.#range(queue, () => ({ after: placeInMs(maxAheadMs) }))
    yield* this.#range(queue, () => ({ before: placeInMs(0) }))
  }

  async *#range(queue: string, limits: () => Pick<Range, 'after' | 'before'>): AsyncGenerator<Row[], undefined> {
    let reached: string | undefined
    while (true) {
      const { after, before } = limits()
      const range = { prefix: `${queue}/`, after: reached ?? after, before, limit: PAGE }
      const page = await this.#parts.views.list<Row>('due', 'byQueue', range)
      if (page.length === 0) return
      yield page.map(entry => entry.row)
      reached = page.at(-1)?.place
    }
  }
}

/** The rows to work on, as many from the first as there is room for; `taken` counts those that need no work, too. */
export const chooseFrom = <Row>(rows: Row[], needsWork: (row: Row) => boolean, reserve: (row: Row) => boolean) => {
  const full = rows.findIndex(row => needsWork(row) && !reserve(row))
  const taken = full === -1 ? rows.length : full
  return { chosen: rows.slice(0, taken).filter(needsWork), taken }
}
