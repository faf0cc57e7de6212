import { type Observable, Subject } from 'rxjs'
import type { Position } from '../../../schemas/recorded.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type Checkpoint, isDamaged, type RowAddress, type ViewStore } from '../../ports/view-store.ts'
import { delay, withinTime } from '../../time/timers.ts'
import type { ProjectionSet } from './project.ts'

/** How often waiting readers check that the views still respond. */
const CHECK_EVERY_MS = 100

/**
 * The rows of one commit, or 'unknown' if another process wrote them, so that any row may have changed. A projector in
 * another thread reports only the contents of due rows.
 */
export type Changes = ChangedRow[] | 'unknown'
type ChangedRow = RowAddress & { row?: object | undefined }

/** The state of the views for readers: their position, and which views are unreadable. */
export interface ViewState {
  position: Position
  areOfAnotherLog: boolean
  outdated: ReadonlySet<string>
}

export interface ViewProgressDependencies {
  log: EventLog
  store: ViewStore
  projections: ProjectionSet
  clock: Clock
}

/** How far the views have followed the log. A projector or follower advances it; readers wait for it. */
export class ViewProgress {
  readonly #log: EventLog
  readonly #store: ViewStore
  readonly #projections: ProjectionSet
  readonly #clock: Clock
  readonly #changes = new Subject<Changes>()
  /** The id of the log's first event, which identifies the log; undefined while the log is empty. */
  #origin: string | undefined
  #areOfAnotherLog = false
  #outdated: ReadonlySet<string> = new Set()
  #position: Position = BEFORE_FIRST
  #highest: Position = BEFORE_FIRST
  #check: Promise<unknown> | undefined
  readonly #waiters = new Set<{ position: Position; resolve: () => void }>()
  readonly #awaited = new Subject<Position>()
  readonly #closing = new AbortController()

  constructor({ log, store, projections, clock }: ViewProgressDependencies) {
    this.#log = log
    this.#store = store
    this.#projections = projections
    this.#clock = clock
  }

  get position(): Position {
    return this.#position
  }

  /** The highest position so far. Views that are behind it have been emptied or rolled back. */
  get highest(): Position {
    return this.#highest
  }

  /** The changes of each commit. */
  get changes(): Observable<Changes> {
    return this.#changes
  }

  /** Emits the position that a reader starts to wait for. */
  get awaited(): Observable<Position> {
    return this.#awaited
  }

  /** Whether a reader waits. */
  get isAwaited(): boolean {
    return this.#waiters.size > 0
  }

  /**
   * Whether a view may be read. Unreadable are the views of another log, views that were emptied and have not caught
   * up, and views that another version of the service builds.
   */
  isReadable(view: string): boolean {
    return !this.#areOfAnotherLog && this.#position >= this.#highest && !this.#outdated.has(view)
  }

  /**
   * The position of views that may be read. Rejects like `checkpoint`, and with Unavailable if they were emptied or
   * damaged and have not caught up.
   */
  async readable(): Promise<Position> {
    const position = await this.reached()
    if (position < this.#highest)
      throw new Unavailable('the views were emptied or damaged, and are being rebuilt', { part: 'views' })
    return position
  }

  /**
   * Resolves when the views have passed a position. Rejects with Unavailable after the time limit, or at once if the
   * views do not respond.
   */
  async passed(position: Position, timeoutMs: number): Promise<void> {
    if (position <= this.#position) return
    const over = new AbortController()
    const passed = Promise.race([this.whenPassed(position, over.signal), this.#untilSilent(over.signal)])
    try {
      await withinTime(this.#clock, passed, timeoutMs, tooLate)
    } finally {
      over.abort()
    }
  }

  /** Resolves when the views have passed a position, without a time limit, unless the signal aborts. */
  whenPassed(position: Position, signal?: AbortSignal): Promise<void> {
    if (position <= this.#position) return Promise.resolve()
    this.#awaited.next(position)
    return new Promise(resolve => {
      const waiter = { position, resolve }
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', () => this.#waiters.delete(waiter), { once: true })
    })
  }

  /** The position that the views have reached. Rejects like `checkpoint`. */
  async reached(): Promise<Position> {
    return (await this.checkpoint())?.position ?? BEFORE_FIRST
  }

  /**
   * The checkpoint of the views. Damaged ones count as empty. Rejects with Unavailable if they do not respond or belong
   * to another log.
   */
  async checkpoint(): Promise<Checkpoint | undefined> {
    try {
      const checkpoint = await this.#store.checkpoint()
      this.#areOfAnotherLog = checkpoint !== undefined && !(await this.isOfThisLog(checkpoint))
      this.#outdated = checkpoint ? this.#projections.outdated(checkpoint.versions) : new Set()
      if (!this.#areOfAnotherLog) return checkpoint
    } catch (error) {
      // Changes are no longer reported, so cached rows may be outdated.
      this.#changes.next('unknown')
      throw error
    }
    this.#changes.next('unknown')
    throw new Unavailable('the views belong to another log; give each log its own views, or restart to rebuild them', {
      part: 'views',
    })
  }

  /** Whether a checkpoint names the origin of this log. Damaged views belong to any log. */
  async isOfThisLog(checkpoint: Checkpoint): Promise<boolean> {
    return isDamaged(checkpoint) || checkpoint.origin === (await this.#originOfLog())
  }

  /** The state that another thread can adopt. */
  get state(): ViewState {
    return { position: this.#position, areOfAnotherLog: this.#areOfAnotherLog, outdated: this.#outdated }
  }

  /** Takes over the state of another thread, and reports what changed. */
  adopt({ position, areOfAnotherLog, outdated }: ViewState, changes: Changes) {
    this.#areOfAnotherLog = areOfAnotherLog
    this.#outdated = outdated
    this.advance(position, changes)
  }

  /** Reports that the views have reached a position, and what changed. */
  advance(position: Position, changes: Changes) {
    this.#position = position
    this.#highest = Math.max(this.#highest, position)
    this.#changes.next(changes)
    for (const waiter of this.#waiters) {
      if (waiter.position > position) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /**
   * Lowers the highest position to the head of the log. A damaged checkpoint may have named a later one, which the
   * views would never reach.
   */
  boundBy(head: Position) {
    this.#highest = Math.min(this.#highest, head)
  }

  /** Ends the waits of readers, so that nothing reads the views once their store is closed. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#check?.catch(() => undefined)
  }

  /** Rejects when the views stop responding. */
  async #untilSilent(signal: AbortSignal): Promise<never> {
    while (!signal.aborted) await this.#checkSoon()
    throw new Unavailable('the wait is over', { part: 'views' })
  }

  /** Checks after a moment that the views still respond, once for all waiting readers. */
  #checkSoon(): Promise<unknown> {
    this.#check ??= delay(this.#clock, CHECK_EVERY_MS, this.#closing.signal)
      .then(() => {
        if (this.#closing.signal.aborted) throw new Unavailable('the service is stopping', { part: 'views' })
        return this.reached()
      })
      .finally(() => {
        this.#check = undefined
      })
    return this.#check
  }

  async #originOfLog(): Promise<string | undefined> {
    if (this.#origin === undefined)
      for await (const [first] of this.#log.readAll(BEFORE_FIRST)) {
        this.#origin = first?.id
        break
      }
    return this.#origin
  }
}

const tooLate = (): never => {
  throw new Unavailable('the views are behind the log', { part: 'views' })
}
