import type { AccountId } from '../../schemas/primitives.ts'

/** A part of the room. */
export interface Reserved {
  /** Gives back what the file turned out not to need. */
  shrink(sizeBytes: number): void
  free(): void
}

interface Waiter {
  sizeBytes: number
  enter(): void
}

/**
 * Limits the memory that files take at a time. An account may hold as many bytes as are left free, as with `Slots`, and
 * accounts that wait are admitted in turn. A file larger than all of the room is admitted alone, so each one is.
 */
export class ByteRoom {
  readonly #totalBytes: number
  readonly #held = new Map<AccountId, number>()
  /** Those who wait, by account and in order: the account that was served last is the last one. */
  readonly #waiting = new Map<AccountId, Set<Waiter>>()
  #sumBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  /** Waits until there is room. Rejects if the signal aborts first. */
  async reserve(accountId: AccountId, maxBytes: number, signal: AbortSignal): Promise<Reserved> {
    signal.throwIfAborted()
    let heldBytes = Math.min(maxBytes, this.#totalBytes)
    await this.#enter(accountId, heldBytes, signal)
    const shrink = (sizeBytes: number) => {
      const freedBytes = heldBytes - sizeBytes
      if (freedBytes <= 0) return
      heldBytes = sizeBytes
      this.#add(accountId, -freedBytes)
      this.#admit()
    }
    return { shrink, free: () => shrink(0) }
  }

  #enter(accountId: AccountId, sizeBytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#remove(waiter, accountId)
        reject(signal.reason)
        // Others may have waited only for their turn.
        this.#admit()
      }
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { sizeBytes, enter }
      const waiters = this.#waiting.get(accountId) ?? new Set()
      this.#waiting.set(accountId, waiters.add(waiter))
      signal.addEventListener('abort', leave, { once: true })
      this.#admit()
    })
  }

  #admit() {
    // An account that is served moves to the end, where the loop comes to it again.
    for (const [accountId, waiters] of this.#waiting) {
      const [waiter] = waiters
      if (!waiter) continue
      const heldBytes = this.#held.get(accountId) ?? 0
      if (heldBytes + waiter.sizeBytes > this.#totalBytes - this.#sumBytes) {
        // Small files of others must not take the room that a large file waits for.
        if (heldBytes === 0) return
        continue
      }
      this.#waiting.delete(accountId)
      this.#waiting.set(accountId, waiters)
      this.#remove(waiter, accountId)
      this.#add(accountId, waiter.sizeBytes)
      waiter.enter()
    }
  }

  #add(accountId: AccountId, sizeBytes: number) {
    const heldBytes = (this.#held.get(accountId) ?? 0) + sizeBytes
    if (heldBytes > 0) this.#held.set(accountId, heldBytes)
    else this.#held.delete(accountId)
    this.#sumBytes += sizeBytes
  }

  #remove(waiter: Waiter, accountId: AccountId) {
    const waiters = this.#waiting.get(accountId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiting.delete(accountId)
  }
}
