import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { until } from './until.ts'

const HOUR_MS = 60 * 60 * 1000

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

  /** Hours pass until something is so. What is under way when one passes may have to wait for the next. */
  later(what: string, find: () => boolean | Promise<boolean>) {
    const anHourLater = () => {
      this.skip(HOUR_MS)
      return find()
    }
    return until(what, anHourLater, { pollMs: 500 })
  }
}
