import { LRUCache } from 'lru-cache'
import type { Clock } from '../ports/clock.ts'
import { upTo } from './cache-limit.ts'

/** More names than are active at a time. A forgotten name may start a new burst. */
const MAX_NAMES = 10_000

interface Dependencies {
  clock: Clock
  /** The pieces of work that a name may do at once, and after that in each second. */
  burst: number
  perSecond: number
}

/** Limits the rate of work by name, as the generic cell rate algorithm does (ITU-T I.371). */
export class Pace {
  readonly #clock: Clock
  readonly #burstMs: number
  readonly #intervalMs: number
  /** The theoretical arrival time of the next work of each name, in milliseconds of the monotonic clock. */
  readonly #arrivalsMs = new LRUCache<string, number>(upTo(MAX_NAMES))

  constructor({ clock, burst, perSecond }: Dependencies) {
    this.#clock = clock
    this.#intervalMs = 1000 / perSecond
    this.#burstMs = burst * this.#intervalMs
  }

  /** Whether the name may do one more now. */
  allows(name: string): boolean {
    return this.#arrivalMs(name) + this.#intervalMs <= this.#clock.monotonicMs() + this.#burstMs
  }

  /** Counts one more, which was allowed. */
  count(name: string) {
    this.#arrivalsMs.set(name, this.#arrivalMs(name) + this.#intervalMs)
  }

  #arrivalMs(name: string): number {
    return Math.max(this.#arrivalsMs.get(name) ?? 0, this.#clock.monotonicMs())
  }
}
