/** Counts what each key has open, such as the connections of an address, up to a limit. */
export class OpenCounts<Key> {
  readonly #limit: number
  readonly #counts = new Map<Key, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one more until the returned function is called, once. Undefined if the key is at the limit. */
  open(key: Key): (() => void) | undefined {
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#limit) return undefined
    this.#counts.set(key, count + 1)
    return () => {
      const left = (this.#counts.get(key) ?? 0) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    }
  }
}
