/** Pieces of work before other requests are served. One takes up to a millisecond. */
const MAX_AT_ONCE = 10

/** Spreads work that is due for many clients at once, so that it does not delay other requests. */
export class Turns {
  readonly #waiting: (() => void)[] = []

  /** Resolves soon, in the order of the calls. */
  next(): Promise<void> {
    return new Promise(resolve => {
      if (this.#waiting.push(resolve) === 1) this.#passSoon()
    })
  }

  #passSoon() {
    setImmediate(() => {
      for (const resolve of this.#waiting.splice(0, MAX_AT_ONCE)) resolve()
      if (this.#waiting.length > 0) this.#passSoon()
    })
  }
}
