import type { Observable } from 'rxjs'
import type { Changes } from './progress.ts'

export interface Waiting {
  /** True at the row's next change; false when the time is up, the signal aborts, or the waiting is ended. */
  changed: Promise<boolean>
  end(): void
}

/** Wakes those who wait for a row of a view to change. */
export class Watch {
  readonly #waiters = new Map<string, Set<(changed: boolean) => void>>()
  #closed = false

  constructor(changes: Observable<Changes>) {
    changes.subscribe(written => {
      if (this.#waiters.size === 0) return
      // Then all look for themselves.
      if (written === 'unknown') this.#endAll(true)
      else for (const { view, key } of written) for (const end of this.#waiters.get(`${view}/${key}`) ?? []) end(true)
    })
  }

  /** True once nobody is woken any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** Ends all waiting, that which begins later too. */
  close() {
    this.#closed = true
    this.#endAll(false)
  }

  /** Begins to wait for a row's next change. Whoever no longer needs to know ends the waiting. */
  begin(view: string, key: string, timeoutMs: number, signal?: AbortSignal): Waiting {
    if (this.#closed || signal?.aborted) return { changed: Promise.resolve(false), end: () => undefined }
    const address = `${view}/${key}`
    const waiters = this.#waiters.get(address) ?? new Set()
    this.#waiters.set(address, waiters)
    let resolve: (changed: boolean) => void
    const changed = new Promise<boolean>(done => {
      resolve = done
    })
    const end = (hasChanged: boolean) => {
      // Whoever comes second must not take away a set that others wait in by now.
      if (!waiters.delete(end)) return
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      if (waiters.size === 0) this.#waiters.delete(address)
      resolve(hasChanged)
    }
    const giveUp = () => end(false)
    const timer = setTimeout(giveUp, timeoutMs)
    signal?.addEventListener('abort', giveUp)
    waiters.add(end)
    return { changed, end: giveUp }
  }

  #endAll(changed: boolean) {
    for (const waiters of this.#waiters.values()) for (const end of waiters) end(changed)
  }
}
