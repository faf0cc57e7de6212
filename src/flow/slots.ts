import { LRUCache } from 'lru-cache'
import type { AccountId } from '../../schemas/primitives.ts'
import { upTo } from './up-to.ts'

/** Slow names whose lower limits are remembered. */
const MAX_SLOW_NAMES = 10_000

export interface SlotsOptions {
  /** Slots of each name. */
  each: number
  /** Slots in all. */
  total?: number
}

interface Waiter {
  name: string
  enter(): void
}

/**
 * Limits the work in progress, by name and in total, so that a slow provider or receiver leaves room for others.
 *
 * An account may hold as many slots as are left free. So one account alone gets half of them, two get a third each, and
 * there is always room for another. (Dynamic thresholds: A. K. Choudhury and E. L. Hahne, IEEE/ACM Transactions on
 * Networking 6(2), 1998.) Accounts that wait are admitted in turn (round robin).
 */
export class Slots {
  readonly #each: number
  readonly #total: number
  readonly #all = new Pool()
  readonly #byName = new Map<string, Pool>()
  readonly #limits = new LRUCache<string, number>(upTo(MAX_SLOW_NAMES))
  /** Those who wait, by account: the account that was served last is the last one. */
  readonly #waiting = new Map<AccountId, Set<Waiter>>()

  constructor({ each, total = Number.POSITIVE_INFINITY }: SlotsOptions) {
    this.#each = each
    this.#total = total
  }

  /** Takes a slot; false if none is free for the account. */
  take(name: string, accountId: AccountId): boolean {
    const pool = this.#byName.get(name) ?? new Pool()
    // An account's first slot counts against the full limit, so that no other account can make the name slow for it.
    const limit = pool.holds(accountId) ? this.#limitOf(name) : this.#each
    if (!pool.admits(accountId, limit) || !this.#all.admits(accountId, this.#total)) return false
    this.#byName.set(name, pool)
    for (const each of [pool, this.#all]) each.add(accountId)
    return true
  }

  /** Takes a slot as soon as one is free for the account. Rejects if the signal aborts first. */
  async acquire(name: string, accountId: AccountId, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.take(name, accountId)) return
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#remove(waiter, accountId)
        reject(signal.reason)
      }
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { name, enter }
      const waiters = this.#waiting.get(accountId) ?? new Set()
      this.#waiting.set(accountId, waiters.add(waiter))
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** The slots of a name that are taken. */
  taken(name: string): number {
    return this.#byName.get(name)?.size ?? 0
  }

  free(name: string, accountId: AccountId) {
    const pool = this.#byName.get(name)
    if (!pool?.holds(accountId)) throw new RangeError(`${accountId} has taken no slot of ${name}`)
    for (const each of [pool, this.#all]) each.remove(accountId)
    if (pool.isEmpty) this.#byName.delete(name)
    this.#admit()
  }

  /** Halves the limit of a name whose work is slow, and doubles it again when the work is quick. */
  adapt(name: string, isSlow: boolean) {
    const limit = this.#limitOf(name)
    if (isSlow) this.#limits.set(name, Math.max(1, Math.floor(limit / 2)))
    else if (limit * 2 < this.#each) this.#limits.set(name, limit * 2)
    else this.#limits.delete(name)
  }

  #admit() {
    // An account that is served moves to the end, where the loop comes to it again.
    for (const [accountId, waiters] of this.#waiting) {
      const waiter = this.#takeForOne(waiters, accountId)
      if (!waiter) continue
      this.#waiting.delete(accountId)
      this.#waiting.set(accountId, waiters)
      this.#remove(waiter, accountId)
      waiter.enter()
    }
  }

  #takeForOne(waiters: Set<Waiter>, accountId: AccountId): Waiter | undefined {
    for (const waiter of waiters) if (this.take(waiter.name, accountId)) return waiter
    return undefined
  }

  #remove(waiter: Waiter, accountId: AccountId) {
    const waiters = this.#waiting.get(accountId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiting.delete(accountId)
  }

  #limitOf(name: string): number {
    return this.#limits.get(name) ?? this.#each
  }
}

/** The slots that each account holds. */
class Pool {
  readonly #held = new Map<AccountId, number>()
  #sum = 0

  get size(): number {
    return this.#sum
  }

  get isEmpty(): boolean {
    return this.#sum === 0
  }

  holds(accountId: AccountId): boolean {
    return this.#held.has(accountId)
  }

  admits(accountId: AccountId, size: number): boolean {
    return (this.#held.get(accountId) ?? 0) < size - this.#sum
  }

  add(accountId: AccountId) {
    this.#held.set(accountId, (this.#held.get(accountId) ?? 0) + 1)
    this.#sum += 1
  }

  remove(accountId: AccountId) {
    const left = (this.#held.get(accountId) ?? 0) - 1
    if (left > 0) this.#held.set(accountId, left)
    else this.#held.delete(accountId)
    this.#sum -= 1
  }
}
