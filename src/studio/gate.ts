/** Limits concurrency, first come, first served. */
export class Gate {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Runs the work once there is a free place. Rejects if the signal aborts before that. */
  async pass<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const cancel = () => {
        this.#waiting.delete(enter)
        reject(signal?.reason)
      }
      this.#waiting.add(enter)
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  /** Passes the place to the longest waiter. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free++
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
