import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import { type AuditedEvent, type Rule, runIdOf } from './rule.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** An idempotency key belongs to one run for 24 hours. */
export class Requests implements Rule {
  /** When each key was last used, in the time that durations count from. */
  readonly #usedAtMs = new Map<string, number>()

  take(event: AuditedEvent, report: Report) {
    const { idempotency } = event.data as { idempotency?: { key: string } }
    if (event.type !== 'RunQueued' || !idempotency) return
    const nowMs = Date.parse(clockOf(event))
    const usedAtMs = this.#usedAtMs.get(idempotency.key)
    if (usedAtMs !== undefined && nowMs - usedAtMs < DAY_MS)
      report(`${runIdOf(event)} has the idempotency key of another run of the same 24 hours`)
    this.#usedAtMs.set(idempotency.key, nowMs)
  }
}
