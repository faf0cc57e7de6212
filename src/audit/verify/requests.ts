import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import { type AuditedEvent, type Rule, runIdOf } from './rule.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** An idempotency key belongs to one run of its mode for 24 hours. */
export class Requests implements Rule {
  /** When each key was last used, in the time that durations count from. */
  readonly #usedAtMs = new Map<string, number>()

  take(event: AuditedEvent, report: Report) {
    const { idempotency, livemode } = event.data as { idempotency?: { key: string }; livemode?: false }
    if (event.type !== 'RunQueued' || !idempotency) return
    const nowMs = Date.parse(clockOf(event))
    // No key holds a blank, so those of the two modes do not meet.
    const key = `${livemode === false ? 'test ' : ''}${idempotency.key}`
    const usedAtMs = this.#usedAtMs.get(key)
    if (usedAtMs !== undefined && nowMs - usedAtMs < DAY_MS)
      report(`${runIdOf(event)} has the idempotency key of another run of the same 24 hours`)
    this.#usedAtMs.set(key, nowMs)
  }
}
