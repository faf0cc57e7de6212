import type { Subscription } from 'rxjs'
import { PROJECTIONS_VERSION } from '../../../projections/all.ts'
import type { Position, Recorded } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { type Checkpoint, CheckpointMoved } from '../../ports/view-store.ts'
import { follow } from '../log/follow.ts'
import { Progress } from './progress.ts'
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
export class Projector extends Progress {
  #checkpoint: Checkpoint | undefined
  #subscription: Subscription | undefined
  #taking: Promise<void> = Promise.resolve()
  #progressAtMs = 0
  #hasStumbled = false
  #stopGathering: () => void = () => undefined
  #onDamage: (error: Damaged) => void = () => undefined

  async start(): Promise<void> {
    await this.#discardForeignViews()
    const head = await this.log.head()
    this.#progressAtMs = performance.now()
    const damage = new Promise<never>((_, reject) => {
      this.#onDamage = reject
    })
    this.#subscription = follow(this.log, {
      from: () => this.#reread(),
      take: events => {
        this.#taking = this.#take(events, head)
        return this.#taking.then(() => this.#gather(events.length))
      },
      confirm: () => this.#confirm(),
      onDrop: error => this.#onDrop(error),
    }).subscribe()
    await Promise.race([this.whenPassed(head), damage])
    this.#onDamage = () => undefined
  }

  protected hurry() {
    this.#stopGathering()
  }

  async stop(): Promise<void> {
    this.#subscription?.unsubscribe()
    this.#stopGathering()
    await this.#taking.catch(() => undefined)
  }

  async #take(events: Recorded[], goal: Position): Promise<void> {
    const { checkpoint, rows } = await project(this.store, this.#checkpoint, events)
    this.#checkpoint = checkpoint
    this.advance(checkpoint.position, rows)
    if (performance.now() - this.#progressAtMs > PROGRESS_MS && checkpoint.position < goal) {
      this.#progressAtMs = performance.now()
      this.logger.info({ position: checkpoint.position, of: goal }, 'building the views')
    }
  }

  /** The next page is not read before this resolves. */
  async #gather(taken: number): Promise<void> {
    if (this.isAwaited || taken >= BEHIND_EVENTS) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, GATHER_MS)
      this.#stopGathering = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #reread(): Promise<Position> {
    const checkpoint = await this.checkpoint()
    // Rows of two versions must not be mixed; whoever came first has to go.
    if (checkpoint && checkpoint.version !== PROJECTIONS_VERSION)
      throw new Unavailable(`another version of the service keeps these views; end the one or the other`)
    this.#checkpoint = checkpoint
    this.advance(checkpoint?.position ?? BEFORE_FIRST, 'unknown')
    if (this.#hasStumbled) this.logger.info({ position: this.position }, 'the projector goes on')
    this.#hasStumbled = false
    return this.position
  }

  /** Somebody may empty the views while the log stands still. */
  async #confirm() {
    const before = this.position
    const position = await this.reached()
    if (position >= before) return
    this.logger.warn({ position, before }, 'the views were emptied and are built anew')
    throw new CheckpointMoved('the views were emptied')
  }

  #onDrop(error: unknown): 'at once' | 'later' {
    if (error instanceof CheckpointMoved) return 'at once'
    if (error instanceof Damaged) this.#onDamage(error)
    this.logger.error({ err: error }, 'the projector stumbled and will try again')
    this.#hasStumbled = true
    return 'later'
  }

  /** Views that were made by other projections, or from another log, are no views of this log: they are built anew. */
  async #discardForeignViews() {
    const checkpoint = await this.store.checkpoint()
    if (!checkpoint || ((await this.#stands(checkpoint)) && checkpoint.version === PROJECTIONS_VERSION)) return
    this.logger.warn({ checkpoint, version: PROJECTIONS_VERSION }, 'the views do not fit the log and are built anew')
    await this.store.clear()
  }

  async #stands({ position, eventId }: Checkpoint): Promise<boolean> {
    for await (const [event] of this.log.readAll(position - 1)) return event?.id === eventId
    return false
  }
}
