import { randomUUID } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ViewStore } from '../ports/view-store.ts'

/** A lease outlives a few missed renewals; the work of a dead process waits no longer than this to be found. */
const LEASE_MS = 15_000
const RENEW_EVERY_MS = 5_000

/** Most runs have ended before they are this old, and need no lease. */
const UNLEASED_MS = 1_500

/** How often leases are looked after, and how many are renewed at most in one write, which holds up the others. */
const TICK_MS = 250
const RENEW_AT_ONCE = 2_000

interface Parts {
  views: ViewStore
  clock: Clock
  logger: Logger
}

interface Held {
  /** When it is to be taken, or renewed. */
  renewAtMs: number
  taken: boolean
}

/**
 * One process's leases on the work that is owed: what one holds, the others leave alone. A lease only saves wasted
 * effort; the authority is always the append.
 */
export class Leases<Id extends string> {
  readonly #parts: Parts
  readonly #kind: string
  readonly #holder = randomUUID()
  readonly #held = new Map<Id, Held>()
  #released: Id[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(parts: Parts, kind: string) {
    this.#parts = parts
    this.#kind = kind
  }

  start() {
    this.#timer = setInterval(() => this.#lookAfter(), TICK_MS)
  }

  /** Gives all leases back. */
  async stop() {
    clearInterval(this.#timer)
    for (const id of this.#held.keys()) this.release(id)
    await this.#giveBack()
  }

  /** Takes the leases that nobody else has, and resolves to the ids that it has them for until they are released. */
  async take(ids: Id[]): Promise<Set<Id>> {
    const taken = new Set(await this.#ask(ids))
    const renewAtMs = performance.now() + RENEW_EVERY_MS
    for (const id of taken) this.#held.set(id, { renewAtMs, taken: true })
    return taken
  }

  /** Takes the lease of what nobody else can know of yet, should the work on it take longer than most. */
  hold(id: Id) {
    this.#held.set(id, { renewAtMs: performance.now() + UNLEASED_MS, taken: false })
  }

  release(id: Id) {
    // Most runs end before their lease is taken, and cost no write.
    if (this.#held.get(id)?.taken) this.#released.push(id)
    this.#held.delete(id)
  }

  #lookAfter() {
    this.#renew().catch(error => this.#parts.logger.error({ err: error }, 'leases were not renewed'))
    this.#giveBack().catch(error => this.#parts.logger.warn({ err: error }, 'leases were not given back, and run out'))
  }

  async #renew() {
    const nowMs = performance.now()
    const due: Id[] = []
    for (const [id, held] of this.#held) {
      if (held.renewAtMs > nowMs) continue
      held.renewAtMs = nowMs + RENEW_EVERY_MS
      held.taken = true
      if (due.push(id) === RENEW_AT_ONCE) break
    }
    try {
      await this.#ask(due)
    } catch (error) {
      // A lease that was not renewed runs out soon, so it is tried again at once.
      for (const id of due) {
        const held = this.#held.get(id)
        if (held) held.renewAtMs = nowMs
      }
      throw error
    }
  }

  async #giveBack() {
    const ids = this.#released
    this.#released = []
    if (ids.length > 0)
      await this.#parts.views.release(
        ids.map(id => this.#keyOf(id)),
        this.#holder,
      )
  }

  async #ask(ids: Id[]): Promise<Id[]> {
    if (ids.length === 0) return []
    const nowMs = this.#parts.clock.nowMs()
    const keys = ids.map(id => this.#keyOf(id))
    const taken = new Set(await this.#parts.views.lease(keys, this.#holder, nowMs, nowMs + LEASE_MS))
    return ids.filter(id => taken.has(this.#keyOf(id)))
  }

  #keyOf(id: Id): string {
    return `${this.#kind}/${id}`
  }
}
