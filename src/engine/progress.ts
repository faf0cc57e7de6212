import { type Observable, Subject } from 'rxjs'
import type { Position } from '../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../ports/event-log.ts'
import { Unavailable } from '../ports/faults.ts'
import type { RowChange } from '../ports/view-store.ts'

/** How far the views reach, and those who wait until they reach further. */
export abstract class Progress {
  readonly #changes = new Subject<RowChange[]>()
  #position: Position = BEFORE_FIRST
  #highest: Position = BEFORE_FIRST
  #waiters: { position: Position; resolve: () => void }[] = []

  get position(): Position {
    return this.#position
  }

  /** The views once reached further than they do now: they were emptied, and are being built anew. */
  get isBuildingAnew(): boolean {
    return this.#position < this.#highest
  }

  /** The rows that were written, commit by commit; an empty list when another process wrote them. */
  get changes(): Observable<RowChange[]> {
    return this.#changes
  }

  /** Begins to keep up, and resolves when the views have passed what the log holds now. Rejects with Damaged. */
  abstract start(): Promise<void>
  abstract stop(): Promise<void>

  /** Resolves when the views have passed a position. Rejects with Unavailable when that takes too long. */
  async passed(position: Position, timeoutMs: number): Promise<void> {
    if (position <= this.#position) return
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Unavailable('the views are behind the log')), timeoutMs)
    })
    try {
      await Promise.race([this.whenPassed(position), tooLate])
    } finally {
      clearTimeout(timer)
    }
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

  protected advance(position: Position, rows: RowChange[]) {
    this.#position = position
    this.#highest = Math.max(this.#highest, position)
    this.#changes.next(rows)
    if (!this.isAwaited) return
    const due = this.#waiters.filter(waiter => waiter.position <= position)
    this.#waiters = this.#waiters.filter(waiter => waiter.position > position)
    for (const waiter of due) waiter.resolve()
  }
}
