import type { Clock } from '../ports/clock.ts'

/** Pieces of work that are done before other requests are served, and the time after which no further one begins. */
const MAX_AT_ONCE = 10
const MAX_ROUND_MS = 5

/** Connections that are accepted in a row before work continues. */
const MAX_DEFERRALS = 100

/** Spreads work that is due for many clients at once, so that it does not delay other requests. */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** The waiting work of each client. The client whose turn is next comes first. */
  readonly #lanes = new Map<string, (() => void)[]>()
  #isPassing = false
  #isDeferred = false
  #deferrals = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Resolves soon. The lanes take turns, and each keeps the order of its calls. */
  next(lane: string): Promise<void> {
    return new Promise(resolve => {
      const waiting = this.#lanes.get(lane)
      if (waiting) waiting.push(resolve)
      else this.#lanes.set(lane, [resolve])
      if (!this.#isPassing) this.#passSoon()
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
    this.#isPassing = true
    setImmediate(async () => {
      const mayPass = !this.#isDeferred || this.#deferrals === MAX_DEFERRALS
      this.#deferrals = mayPass ? 0 : this.#deferrals + 1
      this.#isDeferred = false
      if (mayPass) await this.#passRound()
      this.#isPassing = false
      if (this.#lanes.size > 0) this.#passSoon()
    })
  }

  async #passRound() {
    const endMs = this.#clock.monotonicMs() + MAX_ROUND_MS
    for (let passed = 0; passed < MAX_AT_ONCE && this.#clock.monotonicMs() < endMs; passed++) {
      const resolve = this.#take()
      if (!resolve) return
      resolve()
      // By then, the work has been done up to its first wait for something else.
      await new Promise(process.nextTick)
    }
  }

  /** Takes the first of the first lane, which then comes last. */
  #take(): (() => void) | undefined {
    for (const [lane, waiting] of this.#lanes) {
      this.#lanes.delete(lane)
      const first = waiting.shift()
      if (waiting.length > 0) this.#lanes.set(lane, waiting)
      return first
    }
    return undefined
  }
}
