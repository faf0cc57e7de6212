import type { Observable, Subscription } from 'rxjs'
import type { DueRow } from '../../schemas/views.ts'
import type { Changes } from '../engine/views/view-progress.ts'
import type { Clock, Timer } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { every } from '../time/timers.ts'
import { byLane, byQueue, type DueWork, duePages, isDue, type Lane, laneOf, lanesByQueue } from './due-rows.ts'

/** More rows than this that were written during one round are read from the views instead of kept in memory. */
const MAX_WRITTEN = 1000

/** Rows that are offered together. */
const BATCH = 100

/** Slots that become free within this time are filled together, because many rows cost little more than one. */
const RESUME_MS = 5

/** The pause after a look at all lanes: this many times as long as the look took, up to a limit. */
const PAUSE_PER_LOOK = 4
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
  /** Takes due rows of one queue. Returns those that have to wait. */
  take(rows: Row[]): Promise<Row[]>
}

/**
 * Offers due work queue by queue: rows as they are written, and from time to time all that the views hold. In each
 * queue the accounts take turns (round robin). A lane is the work of one account in one queue; one that has to wait
 * delays no other.
 */
export class DueLoop<Row extends DueRow> {
  readonly #dependencies: DueLoopDependencies
  readonly #worklist: Worklist<Row>
  /** Due rows that were written since the last round, by key, in the order of the log. */
  readonly #written = new Map<string, Row>()
  /** The lanes that have to wait, by name. In each queue, the lane that was served last is the last one. */
  readonly #waiting = new Map<string, Lane<Row>>()
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

  /** Offers again soon what had to wait. */
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

  /** Offers the lanes that had to wait, if there is room again, and the rows that were written. */
  async #offerKnown() {
    const lanes = new Map(this.#hasRoom ? this.#waiting : [])
    if (this.#hasRoom) this.#waiting.clear()
    this.#hasRoom = false
    const written = byLane([...this.#written.values()])
    this.#written.clear()
    for (const [name, rows] of written) {
      // The pages of a lane that waits hold these rows too.
      if (this.#waiting.has(name) || lanes.has(name)) continue
      lanes.set(name, { name, queue: (rows[0] as Row).queue, rows, pages: undefined })
    }
    for (const ofQueue of byQueue([...lanes.values()]).values()) await this.#offer(ofQueue)
  }

  async #look() {
    this.#mustLook = false
    this.#hasRoom = false
    const { clock } = this.#dependencies
    const startMs = clock.monotonicMs()
    let offeredMs = 0
    try {
      for await (const lanes of this.#allLanes()) {
        if (this.#stopped) return
        const offerMs = clock.monotonicMs()
        await this.#offer(lanes)
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

  /** The lanes of each queue. Those of a queue where some had to wait come last and together, in their order. */
  async *#allLanes(): AsyncGenerator<Lane<Row>[]> {
    const full = new Set([...this.#waiting.values()].map(lane => lane.queue))
    const inOrder = new Map<string, Lane<Row> | undefined>([...this.#waiting.keys()].map(name => [name, undefined]))
    this.#waiting.clear()
    for await (const lanes of lanesByQueue<Row>(this.#dependencies, this.#worklist)) {
      if (!lanes.some(lane => full.has(lane.queue))) yield lanes
      else for (const lane of lanes) inOrder.set(lane.name, lane)
    }
    yield* byQueue([...inOrder.values()].filter(lane => lane !== undefined)).values()
  }

  /** A queue whose work fails must not block those after it. */
  async #offer(lanes: Lane<Row>[]) {
    try {
      await this.#takeTurns(lanes)
    } catch (error) {
      this.#dependencies.logger.error({ err: error, queue: lanes[0]?.queue }, 'due work failed and will be retried')
    }
  }

  /** Offers the rows of the lanes of one queue in turns, as many of each lane at a time as fit in a batch. */
  async #takeTurns(lanes: Lane<Row>[]) {
    const ring = [...lanes]
    /** The names of the lanes whose rows were taken: the lane that was served last is the last one. */
    const served = new Set<string>()
    while (ring.length > 0 && !this.#stopped) {
      const each = Math.max(1, Math.floor(BATCH / ring.length))
      const turn = ring.splice(0, BATCH)
      for (const lane of turn) if (lane.rows.length === 0) await this.#load(lane)
      const offered = alternate(turn.map(lane => lane.rows.splice(0, each).filter(row => this.#needsWork(row))))
      const waiting = new Set(offered.length > 0 ? await this.#worklist.take(offered) : [])
      for (const row of offered) if (!waiting.has(row)) moveToEnd(served, laneOf(row))
      const rests = byLane([...waiting])
      for (const lane of turn) {
        const rest = rests.get(lane.name)
        if (rest) this.#wait(lane, [...rest, ...lane.rows])
        else if (lane.rows.length > 0 || lane.pages) ring.push(lane)
      }
    }
    for (const name of served) this.#yieldTurn(name)
  }

  #needsWork(row: Row): boolean {
    return this.#worklist.needsWork?.(row) ?? true
  }

  /** Lets all other lanes that wait go before this one. */
  #yieldTurn(name: string) {
    const lane = this.#waiting.get(name)
    if (!lane) return
    this.#waiting.delete(name)
    this.#waiting.set(name, lane)
  }

  async #load(lane: Lane<Row>) {
    lane.rows = (await lane.pages?.next())?.value ?? []
    if (lane.rows.length === 0) lane.pages = undefined
  }

  #wait(lane: Lane<Row>, rows: Row[]) {
    const pages = lane.pages ?? duePages(this.#dependencies, this.#worklist, lane.name)
    this.#waiting.set(lane.name, { ...lane, rows, pages })
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

/** The rows to work on, and those that have to wait because there is no room for them. */
export const chooseFrom = <Row>(rows: Row[], reserve: (row: Row) => boolean) => {
  const chosen: Row[] = []
  const waiting: Row[] = []
  for (const row of rows) (reserve(row) ? chosen : waiting).push(row)
  return { chosen, waiting }
}
