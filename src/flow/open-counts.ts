import type { EventEmitter } from 'node:events'

/** Something that closes once, such as a socket, a request or a response. */
type Closable = EventEmitter & { destroyed: boolean }

/**
 * Counts the open items of each key, such as the connections of an address or the bytes of its requests, up to a limit.
 * If there is a total, no key may have more open than remains free, so there is always room for another key.
 */
export class OpenCounts<Key> {
  readonly #limit: number
  readonly #total: number
  readonly #counts = new Map<Key, number>()
  #sum = 0

  constructor(limit: number, total = Number.POSITIVE_INFINITY) {
    this.#limit = limit
    this.#total = total
  }

  /** True if the key has reached its limit. The last opened item may exceed the limit. */
  isFull(key: Key): boolean {
    return this.isAtLimit(key) || this.#countOf(key) >= this.#total - this.#sum
  }

  /** True if the key is full on its own, without the items that other keys have open. */
  isAtLimit(key: Key): boolean {
    return this.#countOf(key) >= this.#limit
  }

  /**
   * Counts one more, or as many bytes as it has, until the returned function is called. Undefined if the key is full.
   */
  open(key: Key, weight = 1): (() => void) | undefined {
    if (this.isFull(key)) return undefined
    this.#counts.set(key, this.#countOf(key) + weight)
    this.#sum += weight
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#sum -= weight
      const left = this.#countOf(key) - weight
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    }
  }

  /** Counts something until it closes. False if the key is full. */
  add(key: Key, opened: Closable, weight?: number): boolean {
    const close = this.open(key, weight)
    if (!close) return false
    if (opened.destroyed) close()
    else opened.once('close', close)
    return true
  }

  #countOf(key: Key): number {
    return this.#counts.get(key) ?? 0
  }
}
