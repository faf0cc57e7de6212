import type { Clock, Timer } from '../../ports/clock.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  timer: (delayMs, callback) => new SystemTimer(setTimeout(callback, delayMs)),
}

class SystemTimer implements Timer {
  readonly #timeout: NodeJS.Timeout

  constructor(timeout: NodeJS.Timeout) {
    this.#timeout = timeout
  }

  cancel() {
    clearTimeout(this.#timeout)
  }

  unref() {
    this.#timeout.unref()
    return this
  }
}
