import type { Clock, Timer } from '../../ports/clock.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  // Without a delay, the callback runs after everything that is already waiting. A Node.js timer might run before it.
  timer: (delayMs, callback) => new SystemTimer(delayMs > 0 ? setTimeout(callback, delayMs) : setImmediate(callback)),
}

class SystemTimer implements Timer {
  readonly #timer: NodeJS.Timeout | NodeJS.Immediate

  constructor(timer: NodeJS.Timeout | NodeJS.Immediate) {
    this.#timer = timer
  }

  cancel() {
    this.#timer[Symbol.dispose]()
  }

  unref() {
    this.#timer.unref()
    return this
  }
}
