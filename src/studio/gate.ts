/** Lets only so many through at a time, in the order in which they came. */
export class Gate {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Does the work once there is a place for it. Rejects when the signal aborts before. */
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
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.delete(enter)
        reject(signal?.reason)
      }
      this.#waiting.add(enter)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Hands the place on to whoever waits longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free++
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
