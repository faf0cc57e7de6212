import { filter, type Observable, type Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { RowChange, ViewStore } from '../ports/view-store.ts'

/** How often due work is looked for when nothing says that there is some. */
const POLL_MS = 500

/** Due rows looked at in one round: more than one process has slots, so that its own cannot hide the others. */
const ROUND = 500

/** Does what is due, over and over: hands each due row to `handle`, one after another. */
export class DueLoop {
  readonly #store: ViewStore
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #handle: (key: string, row: DueRow) => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #subscription: Subscription | undefined
  #round: Promise<void> | undefined
  #again = false
  #stopped = false

  constructor(store: ViewStore, clock: Clock, logger: Logger, handle: (key: string, row: DueRow) => Promise<void>) {
    this.#store = store
    this.#clock = clock
    this.#logger = logger
    this.#handle = handle
  }

  start(changes: Observable<RowChange[]>) {
    this.#subscription = changes.pipe(filter(mayBringWork)).subscribe(() => this.wake())
    this.#timer = setInterval(() => this.wake(), POLL_MS)
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
      .catch(error => this.#logger.error({ err: error }, 'due work could not be looked for'))
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

  async #look() {
    // A place is `<time>/<key>`, so what is due at this very millisecond lies before the next one.
    const before = new Date(this.#clock.nowMs() + 1).toISOString()
    const entries = await this.#store.list<DueRow>('due', 'byTime', { prefix: '', before, limit: ROUND })
    for (const { key, row } of entries) {
      if (this.#stopped) return
      // One row that cannot be handled now must not hide those behind it.
      await this.#handle(key, row).catch(error =>
        this.#logger.error({ err: error, key }, 'due work could not be done now and will be tried again'),
      )
    }
  }
}

/** Work that is being started in the same breath is no news to anybody; `watch-run` rows wait for their time. */
const mayBringWork = (rows: RowChange[]) =>
  rows.some(({ view, row }) => view === 'due' && row && (row as DueRow).task !== 'watch-run')
