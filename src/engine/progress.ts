import { setTimeout as delay } from 'node:timers/promises'
import { type Observable, Subject } from 'rxjs'
import type { Position } from '../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../ports/event-log.ts'
import { Unavailable } from '../ports/faults.ts'
import type { RowChange, ViewStore } from '../ports/view-store.ts'

/** How often whoever waits makes sure that the views still answer. */
const MAKE_SURE_EVERY_MS = 100

/** The rows of one commit; 'unknown' where another process wrote them, so that any may have changed. */
export type Changes = RowChange[] | 'unknown'

export const mayHold = (changes: Changes, wanted: (change: RowChange) => boolean): boolean =>
  changes === 'unknown' || changes.some(wanted)

/** How far the views reach, and those who wait until they reach further. */
export abstract class Progress {
  protected readonly store: ViewStore
  readonly #changes = new Subject<Changes>()
  #position: Position = BEFORE_FIRST
  #highest: Position = BEFORE_FIRST
  #waiters: { position: Position; resolve: () => void }[] = []

  constructor(store: ViewStore) {
    this.store = store
  }

  get position(): Position {
    return this.#position
  }

  /** The views once reached further than they do now: they were emptied, and are being built anew. */
  get isBuildingAnew(): boolean {
    return this.#position < this.#highest
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
      await Promise.race([this.whenPassed(position), this.#tooLate(timeoutMs, over.signal)])
    } finally {
      over.abort()
    }
  }

  async #tooLate(timeoutMs: number, signal: AbortSignal): Promise<never> {
    const endMs = performance.now() + timeoutMs
    while (performance.now() < endMs) {
      await delay(MAKE_SURE_EVERY_MS, undefined, { signal })
      await this.reached()
    }
    throw new Unavailable('the views are behind the log')
  }

  protected whenPassed(position: Position): Promise<void> {
    if (position <= this.#position) return Promise.resolve()
    this.hurry()
    return new Promise(resolve => this.#waiters.push({ position, resolve }))
  }

  protected get isAwaited(): boolean {
    return this.#waiters.length > 0
  }

  /** Somebody waits. */
  protected abstract hurry(): void

  /** How far the views reach by themselves. Rejects with Unavailable when they do not answer. */
  protected async reached(): Promise<Position> {
    return (await this.store.checkpoint())?.position ?? BEFORE_FIRST
  }

  protected advance(position: Position, changes: Changes) {
    this.#position = position
    this.#highest = Math.max(this.#highest, position)
    this.#changes.next(changes)
    if (!this.isAwaited) return
    const due = this.#waiters.filter(waiter => waiter.position <= position)
    this.#waiters = this.#waiters.filter(waiter => waiter.position > position)
    for (const waiter of due) waiter.resolve()
  }
}
