import TinyQueue from 'tinyqueue'
import type { Chance } from './chance.ts'

interface Occurrence {
  atMs: number
  /** Drawn by chance, so that what is due at the same time happens in any order. */
  order: number
  happen: () => void
  isCancelled: boolean
}

/** Simulated time: a queue of events in the order of their times. */
export class Timeline {
  readonly #chance: Chance
  readonly #queue = new TinyQueue<Occurrence>([], (one, other) => one.atMs - other.atMs || one.order - other.order)
  nowMs = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Lets something happen after a delay. Returns a function that prevents it. */
  after(delayMs: number, happen: () => void): () => void {
    const atMs = this.nowMs + Math.max(0, delayMs)
    const occurrence = { atMs, order: this.#chance.fraction(), happen, isCancelled: false }
    this.#queue.push(occurrence)
    return () => {
      occurrence.isCancelled = true
    }
  }

  /** Resolves after a delay. */
  pass(delayMs: number): Promise<void> {
    return new Promise(resolve => this.after(delayMs, resolve))
  }

  /** Lets the next thing happen, and all that follows from it at once. False if nothing is due any more. */
  async step(): Promise<boolean> {
    let next = this.#queue.pop()
    while (next?.isCancelled) next = this.#queue.pop()
    if (!next) return false
    this.nowMs = next.atMs
    next.happen()
    // All promises that can continue have done so when the next turn of the event loop comes.
    await new Promise(resolve => setImmediate(resolve))
    return true
  }
}
