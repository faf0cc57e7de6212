import { LRUCache } from 'lru-cache'
import { upTo } from './cache-limit.ts'

/** Slow names whose lower limits are remembered. */
const MAX_SLOW_NAMES = 10_000

interface SemaphoreOptions {
  /** The limit of each name. */
  each: number
  /** The limit of all names together. */
  total?: number
  /** Whether room stays free for owners that hold nothing. */
  leavesRoom?: boolean
}

/** A part of a name's room. */
export interface Reserved {
  /** Returns the part of the permit that is not needed. */
  shrink(size: number): void
  release(): void
}

interface Waiter {
  name: string
  size: number
  enter(): void
}

/**
 * Limits the work in progress, or the bytes in memory, by name and in total, fairly among owners.
 *
 * An owner may hold as much as is left free. So one owner alone gets half of the room, two get a third each, and there
 * is always room for another. (Dynamic thresholds: A. K. Choudhury and E. L. Hahne, IEEE/ACM Transactions on Networking
 * 6(2), 1998.) Owners that wait are admitted in turn (round robin).
 */
export class Semaphore<Owner extends string = string> {
  readonly #each: number
  readonly #total: number
  readonly #leavesRoom: boolean
  readonly #all = new Holders<Owner>()
  readonly #byName = new Map<string, Holders<Owner>>()
  readonly #limits = new LRUCache<string, number>(upTo(MAX_SLOW_NAMES))
  /** Those who wait, by owner: the owner that was served last is the last one. */
  readonly #waiting = new Map<Owner, Set<Waiter>>()

  constructor({ each, total = Number.POSITIVE_INFINITY, leavesRoom = true }: SemaphoreOptions) {
    this.#each = each
    this.#total = total
    this.#leavesRoom = leavesRoom
  }

  /** False if there is no room for the owner. */
  tryAcquire(name: string, owner: Owner, size = 1): boolean {
    const holders = this.#byName.get(name) ?? new Holders()
    // What an owner holds first counts against the full limit, so that no other owner can make the name slow for it.
    const limit = holders.holds(owner) ? this.#limitOf(name) : this.#each
    if (!this.#admits(holders, limit, owner, size) || !this.#admits(this.#all, this.#total, owner, size)) return false
    this.#byName.set(name, holders)
    for (const each of [holders, this.#all]) each.add(owner, size)
    return true
  }

  /** Resolves as soon as there is room for the owner. Rejects if the signal aborts first. */
  async acquire(name: string, owner: Owner, signal?: AbortSignal, size = 1): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#remove(waiter, owner)
        reject(signal?.reason)
        // Others may have waited only for their turn.
        this.#admitAll()
      }
      const enter = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { name, size, enter }
      const waiters = this.#waiting.get(owner) ?? new Set()
      this.#waiting.set(owner, waiters.add(waiter))
      signal?.addEventListener('abort', leave, { once: true })
      this.#admitAll()
    })
  }

  /** Acquires room for something whose size is not known yet. What exceeds all of the room is admitted alone. */
  async reserve(name: string, owner: Owner, maxSize: number, signal?: AbortSignal): Promise<Reserved> {
    let held = Math.min(maxSize, this.#each)
    await this.acquire(name, owner, signal, held)
    const shrink = (size: number) => {
      if (size >= held) return
      this.release(name, owner, held - size)
      held = size
    }
    return { shrink, release: () => shrink(0) }
  }

  /** Runs work as soon as there is room for it. Rejects if the signal aborts before that. */
  async run<Result>(name: string, owner: Owner, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.acquire(name, owner, signal)
    try {
      return await work()
    } finally {
      this.release(name, owner)
    }
  }

  release(name: string, owner: Owner, size = 1) {
    const holders = this.#byName.get(name)
    if (!holders || holders.heldBy(owner) < size) throw new RangeError(`${owner} does not hold ${size} of ${name}`)
    for (const each of [holders, this.#all]) each.add(owner, -size)
    if (holders.sum === 0) this.#byName.delete(name)
    this.#admitAll()
  }

  /** What all owners hold of a name. */
  held(name: string): number {
    return this.#byName.get(name)?.sum ?? 0
  }

  /** Halves the limit of a name whose work is slow, and doubles it again when the work is quick. */
  adapt(name: string, isSlow: boolean) {
    const limit = this.#limitOf(name)
    if (isSlow) this.#limits.set(name, Math.max(1, Math.floor(limit / 2)))
    else if (limit * 2 < this.#each) this.#limits.set(name, limit * 2)
    else this.#limits.delete(name)
  }

  #admits(holders: Holders<Owner>, limit: number, owner: Owner, size: number): boolean {
    return (this.#leavesRoom ? holders.heldBy(owner) : 0) + size <= limit - holders.sum
  }

  #admitAll() {
    const full = new Set<string>()
    // An owner that is served moves to the end, where the loop comes to it again.
    for (const [owner, waiters] of this.#waiting) {
      const waiter = this.#admitOne(waiters, owner, full)
      if (!waiter) continue
      this.#waiting.delete(owner)
      this.#waiting.set(owner, waiters)
      this.#remove(waiter, owner)
      waiter.enter()
    }
  }

  /** Admits one waiter of an owner, in the order of their arrival for each name. `full` are the names without room. */
  #admitOne(waiters: Set<Waiter>, owner: Owner, full: Set<string>): Waiter | undefined {
    const tried = new Set(full)
    for (const waiter of waiters) {
      const { name, size } = waiter
      if (tried.has(name)) continue
      if (this.tryAcquire(name, owner, size)) return waiter
      tried.add(name)
      // The small work of others must not take the room that large work waits for.
      if (!this.#all.holds(owner)) full.add(name)
    }
    return undefined
  }

  #remove(waiter: Waiter, owner: Owner) {
    const waiters = this.#waiting.get(owner)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiting.delete(owner)
  }

  #limitOf(name: string): number {
    return this.#limits.get(name) ?? this.#each
  }
}

/** What each owner holds. */
class Holders<Owner> {
  readonly #held = new Map<Owner, number>()
  sum = 0

  holds(owner: Owner): boolean {
    return this.#held.has(owner)
  }

  heldBy(owner: Owner): number {
    return this.#held.get(owner) ?? 0
  }

  add(owner: Owner, size: number) {
    const held = this.heldBy(owner) + size
    if (held > 0) this.#held.set(owner, held)
    else this.#held.delete(owner)
    this.sum += size
  }
}
