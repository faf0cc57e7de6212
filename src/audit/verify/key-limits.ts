import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import { type AuditedEvent, type Rule, runIdOf } from './rule.ts'

interface Budget {
  amountMicros: number
  period: 'day' | 'week' | 'month'
}

interface Key {
  budget?: Budget
  expiresAt?: string
  models?: string[]
  isRevoked: boolean
  /** What it has spent in each period, by the first day. */
  spentMicros: Map<string, number>
  usedOn?: string
}

/**
 * A key debits within its budget and before it expires, and only for the models that it is held to. A refund gives back
 * to the period of its debit. A use is not recorded twice in a row for one day.
 */
export class KeyLimits implements Rule {
  readonly #keys = new Map<unknown, Key>()
  /** The key with a budget that each run was debited with, and the first day of the period. */
  readonly #debits = new Map<string, { key: Key; firstDay: string }>()

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    if (type === 'ApiKeyCreated')
      this.#keys.set(data['keyId'], { ...(data as Partial<Key>), isRevoked: false, spentMicros: new Map() })
    const key = this.#keys.get(data['keyId'])
    if (key && type === 'ApiKeyRevoked') key.isRevoked = true
    if (key && type === 'ApiKeyUsed') takeUse(event, key, report)
    if (type === 'CreditsDebited') this.#takeDebit(event, report)
    if (type === 'CreditsRefunded') this.#takeRefund(event, report)
  }

  #takeDebit(event: AuditedEvent, report: Report) {
    const { keyId } = event.metadata.actor as { keyId?: string }
    const key = this.#keys.get(keyId)
    if (!key) return
    const { amountMicros, receipt } = event.data as unknown as {
      amountMicros: number
      receipt: { model: string; endpoint: string }
    }
    const time = clockOf(event)
    const { budget, expiresAt, models } = key
    if (expiresAt !== undefined && time >= expiresAt) report(`${keyId} has expired at ${expiresAt}`)
    if (models && !models.includes(receipt.model) && !models.includes(receipt.endpoint))
      report(`${keyId} may not run ${receipt.endpoint}`)
    if (!budget) return
    const firstDay = firstDayOf(budget.period, time)
    const spentMicros = (key.spentMicros.get(firstDay) ?? 0) + amountMicros
    key.spentMicros.set(firstDay, spentMicros)
    this.#debits.set(runIdOf(event), { key, firstDay })
    const { amountMicros: limitMicros, period } = budget
    if (spentMicros > limitMicros)
      report(`${keyId} has spent ${spentMicros} of its budget of ${limitMicros} for the ${period} from ${firstDay}`)
  }

  #takeRefund({ data }: AuditedEvent, report: Report) {
    const { amountMicros, debit } = data as { amountMicros: number; debit?: { budgetPeriod?: string } }
    const { key, firstDay } = this.#debits.get(String(data['runId'])) ?? {}
    const named = debit?.budgetPeriod
    // The budget of a revoked key is gone.
    if (debit && named !== firstDay && !(key?.isRevoked && named === undefined))
      report(`it gives back to the budget of ${named ?? 'no period'}, and its debit was in ${firstDay ?? 'none'}`)
    if (key && firstDay !== undefined)
      key.spentMicros.set(firstDay, (key.spentMicros.get(firstDay) ?? 0) - amountMicros)
  }
}

const takeUse = (event: AuditedEvent, key: Key, report: Report) => {
  const day = clockOf(event).slice(0, 'yyyy-mm-dd'.length)
  if (key.usedOn === day) report(`the use of ${event.data['keyId']} on ${day} is recorded twice`)
  key.usedOn = day
}

const DAY_MS = 24 * 60 * 60 * 1000

/** 1970-01-01 was the fourth day of a week. */
const DAYS_BEFORE_1970 = 3

/** The first day of the period that a time is in. */
const firstDayOf = (period: Budget['period'], time: string): string => {
  if (period === 'month') return `${time.slice(0, 'yyyy-mm'.length)}-01`
  const day = time.slice(0, 'yyyy-mm-dd'.length)
  if (period === 'day') return day
  const days = Date.parse(day) / DAY_MS
  return new Date((days - ((days + DAYS_BEFORE_1970) % 7)) * DAY_MS).toISOString().slice(0, day.length)
}
