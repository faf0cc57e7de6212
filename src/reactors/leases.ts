import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Random } from '../ports/random.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { Outage } from '../time/outage.ts'
import { every } from '../time/timers.ts'

/** The default of `leaseMs`. The work of a dead process is found after this time. */
const LEASE_MS = 15_000

/** A lease outlasts a few missed renewals. */
const RENEWALS_PER_LEASE = 3

/** Most runs end sooner, and need no lease. */
const UNLEASED_MS = 1_500

/** How often leases are renewed and returned, and how many at most in one write, which delays other writes. */
const TICK_MS = 250
const RENEW_AT_ONCE = 2_000

const NOT_RENEWED = 'leases could not be renewed; other processes may take over the work'

interface Dependencies {
  views: Pick<ViewStore, 'lease' | 'release'>
  clock: Clock
  random: Random
  logger: Logger
  /** How long a lease lasts without being renewed. */
  leaseMs?: number | undefined
}

interface Held {
  /** When to take or renew it. */
  renewAtMs: number
  isTaken: boolean
}

/**
 * One process's leases on due work. Other processes leave leased work alone. A lease only saves wasted effort; the
 * append is always the authority.
 */
export class Leases<Id extends string> {
  readonly #dependencies: Dependencies
  readonly #outage: Outage
  readonly #kind: string
  readonly #holder: string
  readonly #leaseMs: number
  readonly #renewEveryMs: number
  readonly #held = new Map<Id, Held>()
  #released: Id[] = []
  #stopTicking = () => {}

  constructor(dependencies: Dependencies, kind: string) {
    this.#dependencies = dependencies
    this.#outage = new Outage(dependencies.logger, NOT_RENEWED, 'leases can be renewed again')
    this.#kind = kind
    this.#holder = dependencies.random.uuid()
    this.#leaseMs = dependencies.leaseMs ?? LEASE_MS
    this.#renewEveryMs = this.#leaseMs / RENEWALS_PER_LEASE
  }

  start() {
    this.#stopTicking = every(this.#dependencies.clock, TICK_MS, () => this.#tick())
  }

  /** Returns all leases. */
  async stop() {
    this.#stopTicking()
    for (const id of this.#held.keys()) this.releaseLease(id)
    await this.#return()
  }

  /** Takes the leases that no other process holds. Resolves to their ids; they are held until released. */
  async takeLeases(ids: Id[]): Promise<Set<Id>> {
    const taken = new Set(await this.#ask(ids))
    const renewAtMs = this.#dependencies.clock.monotonicMs() + this.#renewEveryMs
    for (const id of taken) this.#held.set(id, { renewAtMs, isTaken: true })
    return taken
  }

  /** Holds work that no other process knows of yet. The lease is taken only if the work lasts longer than most. */
  holdLease(id: Id) {
    this.#held.set(id, { renewAtMs: this.#dependencies.clock.monotonicMs() + UNLEASED_MS, isTaken: false })
  }

  releaseLease(id: Id) {
    // Most runs end before their lease is taken, which saves a write.
    if (this.#held.get(id)?.isTaken) this.#released.push(id)
    this.#held.delete(id)
  }

  #tick() {
    this.#renew().then(
      isAsked => isAsked && this.#outage.passed(),
      error => this.#outage.failed(error),
    )
    this.#return()
  }

  /** Resolves to whether any lease was due. */
  async #renew(): Promise<boolean> {
    const nowMs = this.#dependencies.clock.monotonicMs()
    const due: Id[] = []
    for (const [id, held] of this.#held) {
      if (held.renewAtMs > nowMs) continue
      held.renewAtMs = nowMs + this.#renewEveryMs
      held.isTaken = true
      if (due.push(id) === RENEW_AT_ONCE) break
    }
    try {
      await this.#ask(due)
      return due.length > 0
    } catch (error) {
      // The lease expires soon, so try again at once.
      for (const id of due) {
        const held = this.#held.get(id)
        if (held) held.renewAtMs = nowMs
      }
      throw error
    }
  }

  /** Never rejects. */
  async #return() {
    const { views, logger } = this.#dependencies
    // Some may have been taken again.
    const ids = this.#released.filter(id => !this.#held.has(id))
    this.#released = []
    if (ids.length === 0) return
    try {
      const keys = ids.map(id => this.#keyOf(id))
      await views.release(keys, this.#holder)
    } catch (error) {
      logger.warn({ err: error }, 'leases could not be released and will expire')
    }
  }

  async #ask(ids: Id[]): Promise<Id[]> {
    if (ids.length === 0) return []
    const nowMs = this.#dependencies.clock.nowMs()
    const keys = ids.map(id => this.#keyOf(id))
    const taken = new Set(await this.#dependencies.views.lease(keys, this.#holder, nowMs, nowMs + this.#leaseMs))
    return ids.filter(id => taken.has(this.#keyOf(id)))
  }

  #keyOf(id: Id): string {
    return `${this.#kind}/${id}`
  }
}
