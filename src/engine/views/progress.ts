import { setTimeout as delay } from 'node:timers/promises'
import { type Observable, Subject } from 'rxjs'
import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Checkpoint, RowChange, ViewStore } from '../../ports/view-store.ts'

/** How often whoever waits makes sure that the views still answer. */
const MAKE_SURE_EVERY_MS = 100

/** The rows of one commit; 'unknown' where another process wrote them, so that any may have changed. */
export type Changes = RowChange[] | 'unknown'

export const mayHold = (changes: Changes, wanted: (change: RowChange) => boolean): boolean =>
  changes === 'unknown' || changes.some(wanted)

/** How far the views reach, and those who wait until they reach further. */
export abstract class Progress {
  protected readonly log: EventLog
  protected readonly store: ViewStore
  protected readonly logger: Logger
  /** The id of the log's first event, by which views of another log are recognised; undefined as long as there is none. */
  #origin: string | undefined
  #areOfAnotherLog = false
  readonly #changes = new Subject<Changes>()
  #position: Position = BEFORE_FIRST
  #highest: Position = BEFORE_FIRST
  #answering: Promise<unknown> | undefined
  readonly #waiters = new Set<{ position: Position; resolve: () => void }>()

  constructor(log: EventLog, store: ViewStore, logger: Logger) {
    this.log = log
    this.store = store
    this.logger = logger
  }

  get position(): Position {
    return this.#position
  }

  /** What is in the views is not to be shown: they are of another log, or were emptied and reach less far than they did. */
  get areWrong(): boolean {
    return this.#areOfAnotherLog || this.#position < this.#highest
  }

  /** What was written, commit by commit. */
  get changes(): Observable<Changes> {
    return this.#changes
  }

  /** Begins to keep up, and resolves when the views have passed what the log holds now. Rejects with Damaged. */
  abstract start(): Promise<void>
  abstract stop(): Promise<void>

  /**
   * Resolves when the views have passed a position. Rejects with Unavailable when that takes too long, and at once when
   * the views do not answer.
   */
  async passed(position: Position, timeoutMs: number): Promise<void> {
    if (position <= this.#position) return
    const over = new AbortController()
    try {
      await Promise.race([this.whenPassed(position, over.signal), this.#tooLate(timeoutMs, over.signal)])
    } finally {
      over.abort()
    }
  }

  async #tooLate(timeoutMs: number, signal: AbortSignal): Promise<never> {
    const endMs = performance.now() + timeoutMs
    while (performance.now() < endMs && !signal.aborted) await this.#makeSure()
    throw new Unavailable('the views are behind the log')
  }

  /** Asks the views in a moment whether they still answer, once for all who wait. */
  #makeSure(): Promise<unknown> {
    this.#answering ??= delay(MAKE_SURE_EVERY_MS)
      .then(() => this.reached())
      .finally(() => {
        this.#answering = undefined
      })
    return this.#answering
  }

  /** Whoever no longer waits says so by the signal. */
  protected whenPassed(position: Position, signal?: AbortSignal): Promise<void> {
    if (position <= this.#position) return Promise.resolve()
    this.hurry()
    return new Promise(resolve => {
      const waiter = { position, resolve }
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', () => this.#waiters.delete(waiter), { once: true })
    })
  }

  protected get isAwaited(): boolean {
    return this.#waiters.size > 0
  }

  /** Somebody waits. */
  protected abstract hurry(): void

  /** How far the views say that they reach. Rejects with Unavailable when they do not answer, or are of another log. */
  protected async reached(): Promise<Position> {
    return (await this.checkpoint())?.position ?? BEFORE_FIRST
  }

  protected async checkpoint(): Promise<Checkpoint | undefined> {
    try {
      const checkpoint = await this.store.checkpoint()
      this.#areOfAnotherLog = checkpoint !== undefined && checkpoint.origin !== (await this.#originOfLog())
      if (!this.#areOfAnotherLog) return checkpoint
    } catch (error) {
      // Nobody says any longer what changes, so nothing may be answered from memory.
      this.#changes.next('unknown')
      throw error
    }
    this.#changes.next('unknown')
    throw new Unavailable('the views are kept for another log; give one of the two another VIEW_KEY_SPACE')
  }

  async #originOfLog(): Promise<string | undefined> {
    if (this.#origin === undefined)
      for await (const [first] of this.log.readAll(BEFORE_FIRST)) {
        this.#origin = first?.id
        break
      }
    return this.#origin
  }

  protected advance(position: Position, changes: Changes) {
    this.#position = position
    this.#highest = Math.max(this.#highest, position)
    this.#changes.next(changes)
    for (const waiter of this.#waiters) {
      if (waiter.position > position) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}
