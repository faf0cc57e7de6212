import type { Clock } from '../../src/ports/clock.ts'

/** A clock that stands still until a test advances it. */
export class ManualClock implements Clock {
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
