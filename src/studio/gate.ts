/** Limits concurrency. Names take turns, and the work of one name enters in the order of its arrival. */
export class Gate {
  /** The waiting work of each name; the name whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Runs the work once there is a free place. Rejects if the signal aborts before that. */
  async pass<Result>(name: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(name, signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #wait(name: string, signal: AbortSignal | undefined): Promise<void> {
    const waiting = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, waiting)
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const cancel = () => {
        waiting.delete(enter)
        if (waiting.size === 0) this.#waiting.delete(name)
        reject(signal?.reason)
      }
      waiting.add(enter)
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  /** Passes the place to the longest waiter of the next name, whose turn then comes last. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    const [name, waiting] = next
    const [enter, ...others] = waiting
    this.#waiting.delete(name)
    if (others.length > 0) this.#waiting.set(name, waiting)
    if (enter) waiting.delete(enter)
    enter?.()
  }
}
