import type { Observable } from 'rxjs'
import type { RowChange } from '../ports/view-store.ts'

/** Wakes those who wait for a row of a view to change. */
export class Watch {
  readonly #waiters = new Map<string, Set<() => void>>()

  constructor(changes: Observable<RowChange[]>) {
    changes.subscribe(rows => {
      if (this.#waiters.size === 0) return
      // Another process's projector does not say which rows it wrote, so all look for themselves.
      if (rows.length === 0) for (const waiters of this.#waiters.values()) for (const wake of waiters) wake()
      for (const { view, key } of rows) for (const wake of this.#waiters.get(`${view}/${key}`) ?? []) wake()
    })
  }

  /** Resolves to true at the row's next change, and to false when the time is up or the signal aborts. */
  next(view: string, key: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    const address = `${view}/${key}`
    const waiters = this.#waiters.get(address) ?? new Set()
    this.#waiters.set(address, waiters)
    return new Promise(resolve => {
      const end = (changed: boolean) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        waiters.delete(wake)
        if (waiters.size === 0 && this.#waiters.get(address) === waiters) this.#waiters.delete(address)
        resolve(changed)
      }
      const wake = () => end(true)
      const giveUp = () => end(false)
      const timer = setTimeout(giveUp, timeoutMs)
      signal?.addEventListener('abort', giveUp)
      waiters.add(wake)
      if (signal?.aborted) giveUp()
    })
  }
}
