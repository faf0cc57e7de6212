import { Subscription } from 'rxjs'
import type { AnyEvent, Position, Recorded } from '../../../schemas/recorded.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Checkpoint, CheckpointMoved, type ViewStore } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import type { Codec } from '../log/codec.ts'
import { follow } from '../log/follow.ts'
import { type ProjectionSet, project } from './project.ts'
import { type OpenScratch, rebuildViews } from './rebuild.ts'
import type { ViewProgress } from './view-progress.ts'

/**
 * How long events may gather before a page is processed if no reader waits for it: a page costs nearly as much for one
 * event as for fifty, and a row that changes several times in one page is written once.
 */
const GATHER_MS = 20

/** A page of this length shows that the projector is behind, so it does not wait for more events. */
const BEHIND_EVENTS = 500

/** The pause after a failed rebuild. */
const RETRY_MS = 5000

/** How often a long catch-up reports its progress. */
const REPORT_EVERY_MS = 5000

export interface ProjectorDependencies {
  log: EventLog
  codec: Codec<AnyEvent>
  store: ViewStore
  projections: ProjectionSet
  progress: ViewProgress
  clock: Clock
  logger: Logger
  openScratch: OpenScratch
  /**
   * Whether the start waits until views of another version are rebuilt, as it should if other processes keep serving
   * the old ones. Otherwise, they are rebuilt beside the others, which can be read.
   */
  rebuildsFirst?: boolean
}

/** Keeps the views up to date with the log. Any number of projectors may share a store; one advances at a time. */
export class Projector {
  readonly #dependencies: ProjectorDependencies
  #checkpoint: Checkpoint | undefined
  /** Without the projections whose views are being rebuilt. */
  #projections: ProjectionSet
  readonly #subscription = new Subscription()
  #taking: Promise<void> = Promise.resolve()
  #resumed: Promise<void> = Promise.resolve()
  #rebuilding: Promise<void> = Promise.resolve()
  #isStopped = false
  #reportedAtMs = 0
  #hasFailed = false
  #stopGathering: () => void = () => undefined
  #onDamage: (error: Damaged) => void = () => undefined

  constructor(dependencies: ProjectorDependencies) {
    this.#dependencies = dependencies
    this.#projections = dependencies.projections
  }

  /** Resolves when the views have passed the present head of the log. Rejects with Damaged. */
  async start(): Promise<void> {
    const { log, codec, clock, progress } = this.#dependencies
    const outdated = await this.#replaceForeignViews()
    const head = await log.head()
    this.#reportedAtMs = clock.monotonicMs()
    const damage = new Promise<never>((_, reject) => {
      this.#onDamage = reject
    })
    this.#subscription.add(progress.awaited.subscribe(() => this.#stopGathering()))
    const followed = follow(log, codec, clock, {
      from: () => this.#reread(),
      take: events => {
        this.#taking = this.#resumed.then(() => this.#take(events, head))
        return this.#taking.then(() => this.#gather(events.length))
      },
      confirm: () => this.#confirm(),
      onDrop: error => this.#onDrop(error),
    })
    this.#subscription.add(followed.subscribe())
    await Promise.race([progress.whenPassed(head), damage]).catch(error => {
      // Nobody would stop the retries.
      this.#subscription.unsubscribe()
      throw error
    })
    this.#onDamage = () => undefined
    if (outdated) this.#rebuilding = this.#rebuildBeside(outdated)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#subscription.unsubscribe()
    this.#stopGathering()
    await this.#rebuilding
    await this.#taking.catch(() => undefined)
  }

  async #take(events: Recorded[], goal: Position): Promise<void> {
    const { store, progress } = this.#dependencies
    const before = this.#checkpoint
    const { checkpoint, rows } = await project(store, this.#projections, before, events)
    // The store answered so late that the views were read again meanwhile, and may be further by now.
    if (this.#checkpoint !== before) return
    this.#checkpoint = checkpoint
    progress.advance(checkpoint.position, rows)
    this.#report(checkpoint.position, goal)
  }

  #report(position: Position, goal: Position) {
    const { clock, logger } = this.#dependencies
    const nowMs = clock.monotonicMs()
    if (position >= goal || nowMs - this.#reportedAtMs < REPORT_EVERY_MS) return
    this.#reportedAtMs = nowMs
    logger.info({ position, of: goal }, 'building the views')
  }

  /** Delays the read of the next page. */
  async #gather(taken: number): Promise<void> {
    const { progress, clock } = this.#dependencies
    if (progress.isAwaited || taken >= BEHIND_EVENTS) return
    const gathered = new AbortController()
    this.#stopGathering = () => gathered.abort()
    await delay(clock, GATHER_MS, gathered.signal)
  }

  async #reread(): Promise<Position> {
    const { projections, progress, logger } = this.#dependencies
    await this.#clearDamaged()
    const checkpoint = await progress.checkpoint()
    // Rows of two versions must not be mixed.
    if (checkpoint && !projections.areOwn(checkpoint.versions))
      throw new Unavailable('another version of the service maintains these views; stop one of the two', {
        part: 'views',
      })
    this.#checkpoint = checkpoint
    this.#projections = checkpoint ? projections.without(projections.outdated(checkpoint.versions)) : projections
    progress.advance(checkpoint?.position ?? BEFORE_FIRST, 'unknown')
    if (this.#hasFailed) logger.info({ position: progress.position }, 'the projector has recovered')
    this.#hasFailed = false
    return progress.position
  }

  /** The views may be emptied or damaged while the log receives no events. */
  async #confirm() {
    const { store, progress, logger } = this.#dependencies
    const before = progress.position
    const found = await store.checkpoint()
    if (found && found.origin !== this.#checkpoint?.origin) throw new CheckpointMoved('the views have another origin')
    const position = await progress.reached()
    if (position >= before) return
    logger.warn({ position, before }, 'the views were emptied; rebuilding them')
    throw new CheckpointMoved('the views were emptied')
  }

  #onDrop(error: unknown): 'at once' | 'later' {
    if (error instanceof CheckpointMoved) return 'at once'
    if (error instanceof Damaged) this.#onDamage(error)
    if (!this.#hasFailed) this.#dependencies.logger.error({ err: error }, 'the projector failed; retrying')
    this.#hasFailed = true
    return 'later'
  }

  /**
   * Rebuilds the views of other versions of their projections, or all views if they belong to another log. Resolves to
   * the views that are to be rebuilt beside the others.
   */
  async #replaceForeignViews(): Promise<ReadonlySet<string> | undefined> {
    const { store, projections, logger, rebuildsFirst = true } = this.#dependencies
    const checkpoint = await store.checkpoint()
    if (!checkpoint) return undefined
    const outdated = projections.outdated(checkpoint.versions)
    const isOfThisLog = await this.#isInLog(checkpoint)
    if (isOfThisLog && outdated.size === 0) return undefined
    const areAll = !isOfThisLog || Object.keys(projections.versions).every(view => outdated.has(view))
    logger.warn({ checkpoint, views: areAll ? 'all' : [...outdated] }, 'the views do not fit the log; rebuilding them')
    if (areAll) await store.clear()
    else if (!rebuildsFirst) {
      const versions = projections.markRebuilding(checkpoint.versions, outdated)
      await store.replaceCells([], checkpoint, { ...checkpoint, versions })
      return outdated
    } else await this.#rebuild(outdated)
    return undefined
  }

  async #rebuild(views: ReadonlySet<string>) {
    const { progress, log } = this.#dependencies
    const goal = Math.max(progress.position, await log.head())
    await rebuildViews({
      ...this.#dependencies,
      views,
      onProgress: position => {
        if (this.#isStopped) throw new Unavailable('the service is stopping')
        this.#report(position, goal)
      },
      pause: () => this.#pause(),
    })
  }

  /** Rebuilds views that nobody can read meanwhile, and then updates them with the others. */
  async #rebuildBeside(views: ReadonlySet<string>) {
    const { clock, logger } = this.#dependencies
    while (!this.#isStopped)
      try {
        await this.#rebuild(views)
        const resume = await this.#pause()
        await this.#reread().finally(resume)
        logger.info({ views: [...views] }, 'the views are rebuilt')
        return
      } catch (error) {
        if (this.#isStopped) return
        logger.error({ err: error }, 'the views cannot be rebuilt; retrying')
        await delay(clock, RETRY_MS)
      }
  }

  /** Keeps the views from advancing until the returned function is called. */
  async #pause(): Promise<() => void> {
    let resume: () => void = () => undefined
    this.#resumed = new Promise(resolve => {
      resume = resolve
    })
    await this.#taking.catch(() => undefined)
    return resume
  }

  /**
   * Empties damaged views. A checkpoint names the log twice: by its origin, and by the event at its position. If only
   * one of them is of this log, the checkpoint is damaged. If neither is, the service of another log uses the views.
   */
  async #clearDamaged() {
    const { store, progress, logger } = this.#dependencies
    const checkpoint = await store.checkpoint()
    if (!checkpoint || (await this.#isInLog(checkpoint)) === (await progress.isOfThisLog(checkpoint))) return
    logger.warn({ checkpoint }, 'the views do not fit the log; rebuilding them')
    await store.clear()
  }

  async #isInLog({ position, eventId }: Checkpoint): Promise<boolean> {
    // Only the checkpoint of damaged views is there, and logs cannot be read from before their start.
    if (position <= BEFORE_FIRST) return false
    for await (const [event] of this.#dependencies.log.readAll(position - 1)) return event?.id === eventId
    return false
  }
}
