import type { Clock } from '../ports/clock.ts'

/** The time whose work may be done at once, and how long a piece of work counts against its name. */
const WINDOW_MS = 10 * 60_000

/**
 * A name that has had one piece of work leaves twenty pieces to names that have had none. A group of names that has had
 * one piece leaves five pieces to names outside the group.
 */
const PARTS = [20, 5] as const

interface Dependencies {
  clock: Clock
  /** The work for all names together. */
  perMinute: number
}

/** Who does a piece of work, perhaps with the group that they belong to. Names and groups never have the same text. */
type Names = readonly [name: string] | readonly [name: string, group: string]

/**
 * Shares work among names. The work of ten minutes may be done at once, and then the work of one minute per minute. A
 * name may take a twentieth of the work that is left of the last ten minutes, and its group a fifth. Shares therefore
 * shrink as other names come, and names that have had little come first (dynamic thresholds, see decision 22).
 */
export class Shares {
  readonly #clock: Clock
  readonly #total: number
  #left: number
  #nowMs: number
  /** The work of the last ten minutes, the oldest first, and how much of it each name has had. */
  readonly #recent = new Set<{ names: Names; atMs: number }>()
  readonly #counts = new Map<string, number>()

  constructor({ clock, perMinute }: Dependencies) {
    this.#clock = clock
    this.#total = (perMinute * WINDOW_MS) / 60_000
    this.#left = this.#total
    this.#nowMs = clock.monotonicMs()
  }

  /** Takes a piece of work. False if that would exceed the share of the name or of its group. */
  take(names: Names): boolean {
    this.#refill()
    const isAllowed = names.every((name, level) => this.#countOf(name) * (PARTS[level] as number) < this.#left)
    if (this.#left < 1 || !isAllowed) return false
    this.#left -= 1
    for (const name of names) this.#counts.set(name, this.#countOf(name) + 1)
    this.#recent.add({ names, atMs: this.#nowMs })
    return true
  }

  #countOf(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  #refill() {
    const nowMs = this.#clock.monotonicMs()
    this.#left = Math.min(this.#total, this.#left + ((nowMs - this.#nowMs) * this.#total) / WINDOW_MS)
    this.#nowMs = nowMs
    for (const work of this.#recent) {
      if (work.atMs > nowMs - WINDOW_MS) break
      this.#recent.delete(work)
      for (const name of work.names) {
        const count = this.#countOf(name) - 1
        if (count > 0) this.#counts.set(name, count)
        else this.#counts.delete(name)
      }
    }
  }
}
