/** Pieces of work that are done before other requests are served. Each takes up to a millisecond. */
const MAX_AT_ONCE = 10

/** Connections that are accepted in a row before work continues. */
const MAX_DEFERRALS = 100

/** Spreads work that is due for many clients at once, so that it does not delay other requests. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #isDeferred = false
  #deferrals = 0

  /** Resolves soon, in the order of the calls. */
  next(): Promise<void> {
    return new Promise(resolve => {
      if (this.#waiting.push(resolve) === 1) this.#passSoon()
    })
  }

  /**
   * Lets other connections arrive before the next work. Node.js accepts one between two rounds of work, and the client
   * that checks the health of the service may be the last of many.
   */
  defer() {
    this.#isDeferred = true
  }

  #passSoon() {
    setImmediate(() => {
      const mayPass = !this.#isDeferred || this.#deferrals === MAX_DEFERRALS
      this.#deferrals = mayPass ? 0 : this.#deferrals + 1
      this.#isDeferred = false
      if (!mayPass) return this.#passSoon()
      for (const resolve of this.#waiting.splice(0, MAX_AT_ONCE)) resolve()
      if (this.#waiting.length > 0) this.#passSoon()
    })
  }
}
