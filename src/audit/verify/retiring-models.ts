import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import type { AuditedEvent } from './rule.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Usage is counted in whole days, so the last use may be almost 31 days ago. */
const USED_WITHIN_MS = 31 * DAY_MS

/** Notices of models that retire go only to accounts that have used them lately, and each step has one at most. */
export class RetiringModels {
  /** When a run of each model was debited last. */
  readonly #usedAtMs = new Map<unknown, number>()
  /** The days of the last notice, by model and time. */
  readonly #told = new Map<string, number>()

  take(event: AuditedEvent) {
    const { receipt } = event.data as { receipt?: { model: string } }
    if (event.type === 'CreditsDebited') this.#usedAtMs.set(receipt?.model, Date.parse(clockOf(event)))
  }

  takeNotice(notice: Readonly<Record<string, unknown>>, time: string, report: Report) {
    const { model, retiresAt, days } = notice as { model: string; retiresAt: string; days: number }
    const leftMs = Date.parse(retiresAt) - Date.parse(time)
    const usedMs = Date.parse(time) - (this.#usedAtMs.get(model) ?? Number.NEGATIVE_INFINITY)
    if (usedMs > USED_WITHIN_MS) report(`the account has not used ${model} lately`)
    if (leftMs <= 0 || leftMs > days * DAY_MS) report(`${model} retires at ${retiresAt}, not within ${days} days`)
    const name = `${model} ${retiresAt}`
    if (days >= (this.#told.get(name) ?? Number.POSITIVE_INFINITY)) report(`the owner was told of ${name} before`)
    this.#told.set(name, days)
  }
}
