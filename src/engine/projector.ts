import { type Observable, Subject, type Subscription } from 'rxjs'
import { PROJECTIONS_VERSION } from '../../projections/all.ts'
import type { Position, Recorded } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type EventLog } from '../ports/event-log.ts'
import { Damaged, Unavailable } from '../ports/faults.ts'
import type { Logger } from '../ports/logger.ts'
import { type Checkpoint, CheckpointMoved, type RowChange, type ViewStore } from '../ports/view-store.ts'
import { follow } from './follow.ts'
import { project } from './project.ts'

/**
 * How long news may gather before it is taken, when nobody waits for it: a page costs nearly as much for one event as
 * for fifty, and a run that begins and ends in one page is written once.
 */
const GATHER_MS = 20

/** A page as long as this did not come from waiting, but from behind. */
const BEHIND_EVENTS = 500

/** How often a long catch-up says how far it is. */
const PROGRESS_MS = 5000

/** Keeps the views at the head of the log. Any number of projectors may run on one store: one advances at a time. */
export class Projector {
  readonly #log: EventLog
  readonly #store: ViewStore
  readonly #logger: Logger
  readonly #changes = new Subject<RowChange[]>()
  #checkpoint: Checkpoint | undefined
  #subscription: Subscription | undefined
  #taking: Promise<void> = Promise.resolve()
  #waiters: { position: Position; resolve: () => void }[] = []
  #progressAtMs = 0
  #stopGathering: () => void = () => undefined
  #onDamage: (error: Damaged) => void = () => undefined

  constructor(log: EventLog, store: ViewStore, logger: Logger) {
    this.#log = log
    this.#store = store
    this.#logger = logger
  }

  /** How far the views reach. */
  get position(): Position {
    return this.#checkpoint?.position ?? BEFORE_FIRST
  }

  /** The rows that were written, commit by commit; an empty list when another projector wrote them. */
  get changes(): Observable<RowChange[]> {
    return this.#changes
  }

  /** Begins to follow, and resolves when the views have passed what the log holds now. Rejects with Damaged. */
  async start(): Promise<void> {
    await this.#discardForeignViews()
    const head = await this.#log.head()
    this.#progressAtMs = performance.now()
    const damage = new Promise<never>((_, reject) => {
      this.#onDamage = reject
    })
    this.#subscription = follow(this.#log, {
      from: () => this.#reread(),
      take: events => {
        this.#taking = this.#take(events, head)
        return this.#taking.then(() => this.#gather(events.length))
      },
      onDrop: error => this.#onDrop(error),
    }).subscribe()
    await Promise.race([this.#whenPassed(head), damage])
    this.#onDamage = () => undefined
  }

  /** Resolves when the views have passed a position. Rejects with Unavailable when that takes too long. */
  async passed(position: Position, timeoutMs: number): Promise<void> {
    if (position <= this.position) return
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Unavailable('the views are behind the log')), timeoutMs)
    })
    try {
      await Promise.race([this.#whenPassed(position), tooLate])
    } finally {
      clearTimeout(timer)
    }
  }

  async stop(): Promise<void> {
    this.#subscription?.unsubscribe()
    this.#stopGathering()
    await this.#taking.catch(() => undefined)
  }

  async #take(events: Recorded[], goal: Position): Promise<void> {
    const { checkpoint, rows } = await project(this.#store, this.#checkpoint, events)
    this.#advance(checkpoint, rows)
    if (performance.now() - this.#progressAtMs > PROGRESS_MS && checkpoint.position < goal) {
      this.#progressAtMs = performance.now()
      this.#logger.info({ position: checkpoint.position, of: goal }, 'building the views')
    }
  }

  /** The next page is not read before this resolves. */
  async #gather(taken: number): Promise<void> {
    if (this.#waiters.length > 0 || taken >= BEHIND_EVENTS) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, GATHER_MS)
      this.#stopGathering = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #advance(checkpoint: Checkpoint | undefined, rows: RowChange[]) {
    this.#checkpoint = checkpoint
    this.#changes.next(rows)
    const position = this.position
    if (this.#waiters.length === 0) return
    const due = this.#waiters.filter(waiter => waiter.position <= position)
    this.#waiters = this.#waiters.filter(waiter => waiter.position > position)
    for (const waiter of due) waiter.resolve()
  }

  async #reread(): Promise<Position> {
    this.#advance(await this.#store.checkpoint(), [])
    return this.position
  }

  #onDrop(error: unknown): 'at once' | 'later' {
    if (error instanceof CheckpointMoved) return 'at once'
    if (error instanceof Damaged) this.#onDamage(error)
    this.#logger.error({ err: error }, 'the projector stumbled and will try again')
    return 'later'
  }

  #whenPassed(position: Position): Promise<void> {
    if (position <= this.position) return Promise.resolve()
    this.#stopGathering()
    return new Promise(resolve => this.#waiters.push({ position, resolve }))
  }

  /** Views that were made by other projections, or from another log, are no views of this log: they are built anew. */
  async #discardForeignViews() {
    const checkpoint = await this.#store.checkpoint()
    if (!checkpoint || ((await this.#stands(checkpoint)) && checkpoint.version === PROJECTIONS_VERSION)) return
    this.#logger.warn({ checkpoint, version: PROJECTIONS_VERSION }, 'the views do not fit the log and are built anew')
    await this.#store.clear()
  }

  async #stands({ position, eventId }: Checkpoint): Promise<boolean> {
    for await (const [event] of this.#log.readAll(position - 1)) return event?.id === eventId
    return false
  }
}
