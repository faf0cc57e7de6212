import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** A time of day that stands still until a test advances it. Durations and timers are real. */
export class ManualClock implements Clock {
  readonly monotonicMs = systemClock.monotonicMs
  readonly timer = systemClock.timer
  #nowMs: number

  constructor(startMs: number = Date.parse('2026-01-01T00:00:00.000Z')) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  advance(ms: number) {
    this.#nowMs += ms
  }
}

/** A clock whose durations a test can lengthen as well. */
export class SkippingClock extends ManualClock {
  #skippedMs = 0

  override readonly monotonicMs = () => systemClock.monotonicMs() + this.#skippedMs

  skip(ms: number) {
    this.#skippedMs += ms
    this.advance(ms)
  }
}
