import { filter, type Observable, type Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import { type Changes, mayHold } from '../engine/views/progress.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { RowChange, ViewStore } from '../ports/view-store.ts'

/** Due rows that are looked at together: somewhat more than one round can take on of most queues. */
const PAGE = 100

/** Behind every character that a place can have. */
const LAST = '\uffff'

export interface DueLoopParts {
  views: ViewStore
  clock: Clock
  logger: Logger
}

export interface Worklist<Row extends DueRow> {
  /** What the names of its queues begin with; see `projections/due.ts`. */
  queues: string
  /** How often due work is looked for when nothing says that there is some. */
  pollMs: number
  /** Takes on what it can of the rows that are due in one queue; false when the queue has to wait. */
  take(rows: Row[]): Promise<boolean>
}

/** Looks for due work, over and over, queue by queue: a queue that has to wait holds up no other. */
export class DueLoop<Row extends DueRow> {
  readonly #parts: DueLoopParts
  readonly #worklist: Worklist<Row>
  #timer: NodeJS.Timeout | undefined
  #subscription: Subscription | undefined
  #round: Promise<void> | undefined
  #again = false
  #isFailing = false
  #stopped = false

  constructor(parts: DueLoopParts, worklist: Worklist<Row>) {
    this.#parts = parts
    this.#worklist = worklist
  }

  /** Looks now, then at every change that brings work, and from time to time. */
  start(changes?: Observable<Changes>) {
    const { queues, pollMs } = this.#worklist
    const bringsWork = ({ view, row }: RowChange) =>
      view === 'due' && row !== undefined && this.#isDue(row as DueRow, queues)
    this.#subscription = changes?.pipe(filter(written => mayHold(written, bringsWork))).subscribe(() => this.wake())
    this.#timer = setInterval(() => this.wake(), pollMs)
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
      .then(() => this.#tell(undefined))
      .catch(error => this.#tell(error))
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
    clearInterval(this.#timer)
    await this.#round
  }

  /** Once when it begins to fail, and once when it is over: it is looked for many times a second. */
  #tell(error: unknown) {
    const { queues } = this.#worklist
    if (error && !this.#isFailing)
      this.#parts.logger.error({ err: error, queues }, 'due work cannot be looked for; it is tried again and again')
    if (!error && this.#isFailing) this.#parts.logger.info({ queues }, 'due work is looked for again')
    this.#isFailing = error !== undefined
  }

  /** What is due on another day wakes nobody. */
  #isDue({ queue, dueAt }: DueRow, queues: string): boolean {
    return queue.startsWith(queues) && Date.parse(dueAt) <= this.#parts.clock.nowMs()
  }

  async #look() {
    const { views, clock, logger } = this.#parts
    // A place is `<queue>/<time>/<run>`, so what is due at this very millisecond lies before the next one.
    const soon = new Date(clock.nowMs() + 1).toISOString()
    let after: string | undefined
    while (!this.#stopped) {
      const range = { prefix: this.#worklist.queues, after, limit: 1 }
      const [first] = await views.list<Row>('due', 'byQueue', range)
      if (!first) return
      const { queue } = first.row
      // A queue whose work cannot be taken on now must not hide those behind it.
      await this.#lookInto(queue, soon).catch(error =>
        logger.error({ err: error, queue }, 'due work could not be done now and will be tried again'),
      )
      after = `${queue}/${LAST}`
    }
  }

  async #lookInto(queue: string, soon: string) {
    let after: string | undefined
    while (!this.#stopped) {
      const range = { prefix: `${queue}/`, after, before: `${queue}/${soon}`, limit: PAGE }
      const page = await this.#parts.views.list<Row>('due', 'byQueue', range)
      if (page.length === 0 || !(await this.#worklist.take(page.map(entry => entry.row)))) return
      after = page.at(-1)?.place
    }
  }
}
