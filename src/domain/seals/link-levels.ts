import { EMPTY_ROOT, leafHash, nodeHash, splitOf } from './log-tree.ts'

/**
 * The tree over links (RFC 9162, section 2.1) with the hashes of all of its complete parts, so that a path in it, or in
 * the tree of any of its first links, takes few steps.
 */
export class LinkLevels {
  /** For each height, the hashes of the complete parts with 2^height links, from left to right. */
  readonly #levels: string[][] = [[]]

  get size(): number {
    return (this.#levels[0] as string[]).length
  }

  add(link: string) {
    let hash = leafHash(link)
    for (let height = 0; ; height++) {
      const level = this.#levelAt(height)
      level.push(hash)
      if (level.length % 2 === 1) return
      hash = nodeHash(level[level.length - 2] as string, hash)
    }
  }

  #levelAt(height: number): string[] {
    const level = this.#levels[height] ?? []
    this.#levels[height] = level
    return level
  }

  /** The root over the first links. */
  root(size: number): string {
    return size === 0 ? EMPTY_ROOT : this.#hashOf(0, size)
  }

  /** The path from a link to the root over the first `size` links. */
  inclusion(index: number, size: number, from = 0): string[] {
    if (size - from <= 1) return []
    const middle = from + splitOf(size - from)
    return index < middle
      ? [...this.inclusion(index, middle, from), this.#hashOf(middle, size)]
      : [...this.inclusion(index, size, middle), this.#hashOf(from, middle)]
  }

  /** The proof that the tree over the first `size` links extends that over the first `earlier`, which is not empty. */
  consistency(earlier: number, size: number, from = 0, isKnown = true): string[] {
    if (earlier === size) return isKnown ? [] : [this.#hashOf(from, size)]
    const middle = from + splitOf(size - from)
    return earlier <= middle
      ? [...this.consistency(earlier, middle, from, isKnown), this.#hashOf(middle, size)]
      : [...this.consistency(earlier, size, middle, false), this.#hashOf(from, middle)]
  }

  /** The hash over the links from one index up to another. */
  #hashOf(from: number, to: number): string {
    const size = to - from
    const height = 31 - Math.clz32(size)
    if (size === 2 ** height) return this.#levels[height]?.[from >>> height] as string
    const middle = from + splitOf(size)
    return nodeHash(this.#hashOf(from, middle), this.#hashOf(middle, to))
  }
}
