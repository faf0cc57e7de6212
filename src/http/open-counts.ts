import type { EventEmitter } from 'node:events'

/** Something that closes once, such as a socket, a request or a response. */
type Closable = EventEmitter & { destroyed: boolean }

/** Counts what each key has open, such as the connections of an address or the bytes of its requests, up to a limit. */
export class OpenCounts<Key> {
  readonly #limit: number
  readonly #counts = new Map<Key, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** True if the key has as much open as it may, or more: the last one that was added may pass the limit. */
  isFull(key: Key): boolean {
    return this.#countOf(key) >= this.#limit
  }

  /** Counts one more until it closes, or as many bytes as it has. False if the key is full. */
  add(key: Key, opened: Closable, weight = 1): boolean {
    if (this.isFull(key)) return false
    // It will not close again.
    if (opened.destroyed) return true
    this.#counts.set(key, this.#countOf(key) + weight)
    opened.once('close', () => {
      const left = this.#countOf(key) - weight
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    })
    return true
  }

  #countOf(key: Key): number {
    return this.#counts.get(key) ?? 0
  }
}
