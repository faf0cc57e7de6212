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
 * One process's leases on the work that is owed for runs: what one holds, the others leave alone. A lease only saves wasted
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
    for (const runId of this.#held.keys()) this.release(runId)
    await this.#giveBack()
  }

  /** Takes the leases that nobody else has, and resolves to the runs that it has them for until they are released. */
  async take(runIds: Id[]): Promise<Set<Id>> {
    const taken = new Set(await this.#ask(runIds))
    const renewAtMs = performance.now() + RENEW_EVERY_MS
    for (const runId of taken) this.#held.set(runId, { renewAtMs, taken: true })
    return taken
  }

  /** Takes the lease of a run that nobody else can know of yet, should the work on it take longer than most. */
  hold(runId: Id) {
    this.#held.set(runId, { renewAtMs: performance.now() + UNLEASED_MS, taken: false })
  }

  release(runId: Id) {
    // Most runs end before their lease is taken, and cost no write.
    if (this.#held.get(runId)?.taken) this.#released.push(runId)
    this.#held.delete(runId)
  }

  #lookAfter() {
    this.#renew().catch(error => this.#parts.logger.error({ err: error }, 'leases were not renewed'))
    this.#giveBack().catch(error => this.#parts.logger.warn({ err: error }, 'leases were not given back, and run out'))
  }

  async #renew() {
    const nowMs = performance.now()
    const due: Id[] = []
    for (const [runId, held] of this.#held) {
      if (held.renewAtMs > nowMs) continue
      held.renewAtMs = nowMs + RENEW_EVERY_MS
      held.taken = true
      if (due.push(runId) === RENEW_AT_ONCE) break
    }
    await this.#ask(due)
  }

  async #giveBack() {
    const runIds = this.#released
    this.#released = []
    if (runIds.length > 0)
      await this.#parts.views.release(
        runIds.map(runId => this.#keyOf(runId)),
        this.#holder,
      )
  }

  async #ask(runIds: Id[]): Promise<Id[]> {
    if (runIds.length === 0) return []
    const nowMs = this.#parts.clock.nowMs()
    const keys = runIds.map(runId => this.#keyOf(runId))
    const taken = new Set(await this.#parts.views.lease(keys, this.#holder, nowMs, nowMs + LEASE_MS))
    return runIds.filter(runId => taken.has(this.#keyOf(runId)))
  }

  #keyOf(runId: Id): string {
    return `${this.#kind}/${runId}`
  }
}
