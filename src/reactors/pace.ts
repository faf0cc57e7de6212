import { LRUCache } from 'lru-cache'
import type { Clock } from '../ports/clock.ts'

/** More names than are active at a time. A forgotten name may start a new burst. */
const MAX_NAMES = 10_000

interface Parts {
  clock: Clock
  /** How many may follow each other at once, and after that in each second. */
  burst: number
  perSecond: number
}

/** Limits the rate of work by name, as the generic cell rate algorithm does (ITU-T I.371). */
export class Pace {
  readonly #clock: Clock
  readonly #burstMs: number
  readonly #intervalMs: number
  /** When the names have used up what they have taken. */
  readonly #spentAtMs = new LRUCache<string, number>({ max: MAX_NAMES })

  constructor({ clock, burst, perSecond }: Parts) {
    this.#clock = clock
    this.#intervalMs = 1000 / perSecond
    this.#burstMs = burst * this.#intervalMs
  }

  /** Whether the name may do one more now. */
  allows(name: string): boolean {
    return this.#spentMs(name) + this.#intervalMs <= this.#clock.monotonicMs() + this.#burstMs
  }

  count(name: string) {
    this.#spentAtMs.set(name, this.#spentMs(name) + this.#intervalMs)
  }

  #spentMs(name: string): number {
    return Math.max(this.#spentAtMs.get(name) ?? 0, this.#clock.monotonicMs())
  }
}
