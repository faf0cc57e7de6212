import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator'
import type { Random } from '../../../src/ports/random.ts'

/** Every decision of a simulated world. Equal seeds decide equally. */
export class Chance implements Random {
  readonly #generator: RandomGenerator
  #rising = 0

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed)
  }

  fraction(): number {
    return (this.#generator.next() >>> 0) / 2 ** 32
  }

  /** A whole number from 0 up to, but not including, the limit. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  /** A number between two others. */
  between(low: number, high: number): number {
    return low + this.fraction() * (high - low)
  }

  /** True with a probability from 0 to 1. */
  happens(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  /** A generator that no longer depends on this one, so that one part's draws do not change another's. */
  fork(): Chance {
    return new Chance(this.#generator.next())
  }

  hex(bytes: number): string {
    return Array.from({ length: bytes }, () => this.below(256).toString(16).padStart(2, '0')).join('')
  }

  uuid(): string {
    return toUuid(`${this.hex(6)}4${this.hex(2).slice(1)}8${this.hex(8).slice(1)}`)
  }

  risingUuid(): string {
    this.#rising += 1
    return toUuid(`${this.#rising.toString(16).padStart(12, '0')}7${this.hex(2).slice(1)}8${this.hex(8).slice(1)}`)
  }
}

const toUuid = (hex: string) =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
