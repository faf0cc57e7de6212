import type { Observable } from 'rxjs'
import type { Clock } from '../../ports/clock.ts'
import type { Changes } from './view-progress.ts'

export interface RowWait {
  /** True at the row's next change; false if the time is up, the signal aborts, or the wait is ended. */
  changed: Promise<boolean>
  end(): void
}

/** Wakes readers that wait for a row of a view to change. */
export class Watch {
  readonly #waiters = new Map<string, Set<(changed: boolean) => void>>()
  readonly #clock: Clock
  #isClosed = false

  constructor(changes: Observable<Changes>, clock: Clock) {
    this.#clock = clock
    changes.subscribe(written => {
      if (this.#waiters.size === 0) return
      // Any row may have changed, so all readers check.
      if (written === 'unknown') this.#endAll(true)
      else for (const { view, key } of written) for (const end of this.#waiters.get(`${view}/${key}`) ?? []) end(true)
    })
  }

  /** True once all waits end at once. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Ends all present and future waits. */
  close() {
    this.#isClosed = true
    this.#endAll(false)
  }

  /** Starts to wait for a row's next change. Callers that lose interest end the wait. */
  begin(view: string, key: string, timeoutMs: number, signal?: AbortSignal): RowWait {
    if (this.#isClosed || signal?.aborted) return { changed: Promise.resolve(false), end: () => undefined }
    const address = `${view}/${key}`
    const waiters = this.#waiters.get(address) ?? new Set()
    this.#waiters.set(address, waiters)
    let resolve: (changed: boolean) => void
    const changed = new Promise<boolean>(done => {
      resolve = done
    })
    const end = (hasChanged: boolean) => {
      // A second call must not delete a set that newer waiters share.
      if (!waiters.delete(end)) return
      timer.cancel()
      signal?.removeEventListener('abort', cancel)
      if (waiters.size === 0) this.#waiters.delete(address)
      resolve(hasChanged)
    }
    const cancel = () => end(false)
    const timer = this.#clock.timer(timeoutMs, cancel)
    signal?.addEventListener('abort', cancel)
    waiters.add(end)
    return { changed, end: cancel }
  }

  #endAll(changed: boolean) {
    for (const waiters of this.#waiters.values()) for (const end of waiters) end(changed)
  }
}
