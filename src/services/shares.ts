import type { Clock } from '../ports/clock.ts'

/** The time whose work may be done at once, and how long a piece of work counts against its name. */
const WINDOW_MS = 10 * 60_000

/** A name that has had one piece of work leaves twenty to names that have had none. */
const PARTS = 20

interface Parts {
  clock: Clock
  /** The work for all names together. */
  perMinute: number
}

/**
 * Shares work among names. Ten minutes' work may be done at once, and then what a minute allows. Of the work of the
 * last ten minutes, a name may have a twentieth of what is left for all. So its share shrinks as others come, and names
 * that have had little come first (dynamic thresholds, see decision 22).
 */
export class Shares {
  readonly #clock: Clock
  readonly #total: number
  #left: number
  #nowMs: number
  /** The work of the last ten minutes, the oldest first, and how much of it each name has had. */
  readonly #recent = new Set<{ name: string; atMs: number }>()
  readonly #counts = new Map<string, number>()

  constructor({ clock, perMinute }: Parts) {
    this.#clock = clock
    this.#total = (perMinute * WINDOW_MS) / 60_000
    this.#left = this.#total
    this.#nowMs = clock.monotonicMs()
  }

  /** Takes a piece of work for the name. False if that would exceed its share. */
  take(name: string): boolean {
    this.#refill()
    const count = this.#counts.get(name) ?? 0
    if (this.#left < 1 || count * PARTS >= this.#left) return false
    this.#left -= 1
    this.#counts.set(name, count + 1)
    this.#recent.add({ name, atMs: this.#nowMs })
    return true
  }

  #refill() {
    const nowMs = this.#clock.monotonicMs()
    this.#left = Math.min(this.#total, this.#left + ((nowMs - this.#nowMs) * this.#total) / WINDOW_MS)
    this.#nowMs = nowMs
    for (const work of this.#recent) {
      if (work.atMs > nowMs - WINDOW_MS) break
      this.#recent.delete(work)
      const count = (this.#counts.get(work.name) as number) - 1
      if (count > 0) this.#counts.set(work.name, count)
      else this.#counts.delete(work.name)
    }
  }
}
