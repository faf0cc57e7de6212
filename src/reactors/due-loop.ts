import type { Observable, Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import type { Changes } from '../engine/views/view-progress.ts'
import type { Clock, Timer } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { every } from '../time/timers.ts'
import {
  type AccountQueue,
  accountQueueOf,
  accountQueuesByQueue,
  byAccountQueue,
  byQueue,
  type DueWork,
  duePages,
  isDue,
} from './due-rows.ts'

/** More rows than this that were written during one round are read from the views instead of kept in memory. */
const MAX_WRITTEN = 1000

/** Rows that are offered together. */
const BATCH = 100

/** Permits that become free within this time are used together, because many rows cost little more than one. */
const RESUME_MS = 5

/** The pause after a look, which delays the work that it finds: so many times its duration, up to a limit. */
const PAUSE_PER_LOOK = 19
const MAX_PAUSE_MS = 2_000

export interface DueLoopDependencies {
  views: ViewStore
  clock: Clock
  logger: Logger
}

export interface Worklist<Row extends DueRow> extends DueWork {
  /** How often to look for due work without being woken. */
  pollMs: number
  /** False for a row whose work is in progress or done, while the views still show it. Such a row is not offered. */
  needsWork?(row: Row): boolean
  /** Takes due rows of one queue. Returns the rows that have to wait. */
  takeRows(rows: Row[]): Promise<Row[]>
}

/**
 * Offers due work, queue by queue: rows as they are written and, at intervals, all due rows of the views. Each queue
 * holds a queue per account, served in round robin, so an account that has to wait delays no other account.
 */
export class DueLoop<Row extends DueRow> {
  readonly #dependencies: DueLoopDependencies
  readonly #worklist: Worklist<Row>
  /** Due rows that were written since the last round, by key, in the order of the log. */
  readonly #written = new Map<string, Row>()
  /** The account queues that have to wait, by name, the most recently served of each queue last. */
  readonly #waiting = new Map<string, AccountQueue<Row>>()
  #hasRoom = false
  #resuming: Timer | undefined
  #mustLook = false
  #pause: Timer | undefined
  #stopLooking = () => {}
  #subscription: Subscription | undefined
  #round: Promise<void> | undefined
  #isFailing = false
  #stopped = false

  constructor(dependencies: DueLoopDependencies, worklist: Worklist<Row>) {
    this.#dependencies = dependencies
    this.#worklist = worklist
  }

  /** Looks now and at intervals, and offers the work that changes bring. */
  start(changes?: Observable<Changes>) {
    this.#subscription = changes?.subscribe(written => this.#notice(written))
    this.#stopLooking = every(this.#dependencies.clock, this.#worklist.pollMs, () => this.wake())
    this.wake()
  }

  /** Looks for due work soon. */
  wake() {
    this.#mustLook = true
    this.#proceed()
  }

  /** Soon offers again the rows that had to wait. */
  resume() {
    if (this.#waiting.size === 0 && !this.#round) return
    this.#resuming ??= this.#dependencies.clock.timer(RESUME_MS, () => {
      this.#resuming = undefined
      this.#hasRoom = true
      this.#proceed()
    })
  }

  async stop() {
    this.#stopped = true
    this.#subscription?.unsubscribe()
    this.#stopLooking()
    this.#resuming?.cancel()
    this.#pause?.cancel()
    await this.#round
  }

  #notice(changes: Changes) {
    if (changes === 'unknown') return this.wake()
    for (const { view, key, row } of changes) {
      if (view !== 'due') continue
      this.#written.delete(key)
      if (row && isDue(row as DueRow, this.#worklist, this.#dependencies.clock)) this.#written.set(key, row as Row)
    }
    if (this.#written.size > MAX_WRITTEN) this.wake()
    else this.#proceed()
  }

  /** Starts a round if there is anything to do. What comes up during a round waits for its end. */
  #proceed() {
    const looks = this.#mustLook && !this.#pause
    // The look finds the written rows too.
    if (looks) this.#written.clear()
    const mayOffer = this.#written.size > 0 || (this.#hasRoom && this.#waiting.size > 0)
    if (this.#stopped || this.#round || !(looks || mayOffer)) return
    this.#round = (looks ? this.#look() : this.#offerKnown()).finally(() => {
      this.#round = undefined
      this.#proceed()
    })
  }

  /** Offers the account queues that had to wait, if there is room again, and the rows that were written. */
  async #offerKnown() {
    const accountQueues = new Map(this.#hasRoom ? this.#waiting : [])
    if (this.#hasRoom) this.#waiting.clear()
    this.#hasRoom = false
    const written = byAccountQueue([...this.#written.values()])
    this.#written.clear()
    for (const [name, rows] of written) {
      // The pages of an account queue that waits hold these rows too.
      if (this.#waiting.has(name) || accountQueues.has(name)) continue
      accountQueues.set(name, { name, queue: (rows[0] as Row).queue, rows, pages: undefined })
    }
    for (const ofQueue of byQueue([...accountQueues.values()]).values()) await this.#offer(ofQueue)
  }

  async #look() {
    this.#mustLook = false
    this.#hasRoom = false
    const { clock } = this.#dependencies
    const startMs = clock.monotonicMs()
    let offeredMs = 0
    try {
      for await (const accountQueues of this.#allAccountQueues()) {
        if (this.#stopped) return
        const offerMs = clock.monotonicMs()
        await this.#offer(accountQueues)
        offeredMs += clock.monotonicMs() - offerMs
      }
      this.#report(undefined)
    } catch (error) {
      this.#report(error)
    }
    const tookMs = clock.monotonicMs() - startMs - offeredMs
    this.#pause = clock.timer(Math.min(tookMs * PAUSE_PER_LOOK, MAX_PAUSE_MS), () => {
      this.#pause = undefined
      this.#proceed()
    })
  }

  /** The account queues of each queue. Queues where some had to wait come last, in the order of their waiting. */
  async *#allAccountQueues(): AsyncGenerator<AccountQueue<Row>[]> {
    const full = new Set([...this.#waiting.values()].map(accountQueue => accountQueue.queue))
    const inOrder = new Map<string, AccountQueue<Row> | undefined>(
      [...this.#waiting.keys()].map(name => [name, undefined]),
    )
    this.#waiting.clear()
    for await (const accountQueues of accountQueuesByQueue<Row>(this.#dependencies, this.#worklist)) {
      if (!accountQueues.some(accountQueue => full.has(accountQueue.queue))) yield accountQueues
      else for (const accountQueue of accountQueues) inOrder.set(accountQueue.name, accountQueue)
    }
    yield* byQueue([...inOrder.values()].filter(accountQueue => accountQueue !== undefined)).values()
  }

  /** A queue whose work fails must not block later queues. */
  async #offer(accountQueues: AccountQueue<Row>[]) {
    try {
      await this.#takeTurns(accountQueues)
    } catch (error) {
      this.#dependencies.logger.error(
        { err: error, queue: accountQueues[0]?.queue },
        'due work failed and will be retried',
      )
    }
  }

  /** Offers the rows of one queue in round robin: as many of each account at a time as fit in a batch. */
  async #takeTurns(accountQueues: AccountQueue<Row>[]) {
    const ring = [...accountQueues]
    /** The account queues whose rows were taken, by name, the most recently served last. */
    const served = new Set<string>()
    while (ring.length > 0 && !this.#stopped) {
      const each = Math.max(1, Math.floor(BATCH / ring.length))
      const turn = ring.splice(0, BATCH)
      for (const accountQueue of turn) if (accountQueue.rows.length === 0) await this.#load(accountQueue)
      const offered = alternate(
        turn.map(accountQueue => accountQueue.rows.splice(0, each).filter(row => this.#needsWork(row))),
      )
      const waiting = new Set(offered.length > 0 ? await this.#worklist.takeRows(offered) : [])
      for (const row of offered) if (!waiting.has(row)) moveToEnd(served, accountQueueOf(row))
      const rests = byAccountQueue([...waiting])
      for (const accountQueue of turn) {
        const rest = rests.get(accountQueue.name)
        if (rest) this.#wait(accountQueue, [...rest, ...accountQueue.rows])
        else if (accountQueue.rows.length > 0 || accountQueue.pages) ring.push(accountQueue)
      }
    }
    for (const name of served) this.#yieldTurn(name)
  }

  #needsWork(row: Row): boolean {
    return this.#worklist.needsWork?.(row) ?? true
  }

  /** Lets all other account queues that wait go before this one. */
  #yieldTurn(name: string) {
    const accountQueue = this.#waiting.get(name)
    if (!accountQueue) return
    this.#waiting.delete(name)
    this.#waiting.set(name, accountQueue)
  }

  async #load(accountQueue: AccountQueue<Row>) {
    accountQueue.rows = (await accountQueue.pages?.next())?.value ?? []
    if (accountQueue.rows.length === 0) accountQueue.pages = undefined
  }

  #wait(accountQueue: AccountQueue<Row>, rows: Row[]) {
    const pages = accountQueue.pages ?? duePages(this.#dependencies, this.#worklist, accountQueue.name)
    this.#waiting.set(accountQueue.name, { ...accountQueue, rows, pages })
  }

  /** Logs only the first failure and the recovery, since there are many rounds a second. */
  #report(error: unknown) {
    const { queues } = this.#worklist
    if (error && !this.#isFailing)
      this.#dependencies.logger.error({ err: error, queues }, 'due work cannot be read; retrying')
    if (!error && this.#isFailing) this.#dependencies.logger.info({ queues }, 'due work can be read again')
    this.#isFailing = error !== undefined
  }
}

/** The first of each list, then the second of each, and so on. */
const alternate = <Item>(lists: Item[][]): Item[] => {
  const length = Math.max(0, ...lists.map(list => list.length))
  return Array.from({ length }, (_, index) => lists.flatMap(list => list.slice(index, index + 1))).flat()
}

const moveToEnd = <Item>(items: Set<Item>, item: Item) => {
  items.delete(item)
  items.add(item)
}

/** The rows to work on, and the rows that have to wait for room. */
export const chooseFrom = <Row>(rows: Row[], reserve: (row: Row) => boolean) => {
  const chosen: Row[] = []
  const waiting: Row[] = []
  for (const row of rows) (reserve(row) ? chosen : waiting).push(row)
  return { chosen, waiting }
}
