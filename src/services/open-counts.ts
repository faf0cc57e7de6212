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

  /** True if the key has as much open as it may, or more: the last one that was opened may pass the limit. */
  isFull(key: Key): boolean {
    return this.#countOf(key) >= this.#limit
  }

  /**
   * Counts one more, or as many bytes as it has, until the returned function is called. Undefined if the key is full.
   */
  open(key: Key, weight = 1): (() => void) | undefined {
    if (this.isFull(key)) return undefined
    this.#counts.set(key, this.#countOf(key) + weight)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
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
