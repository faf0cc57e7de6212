import { clockOf } from '../../../schemas/recorded.ts'
import { type AuditedEvent, runIdOf } from './rule.ts'

export interface Budget {
  amountMicros: number
  period: 'day' | 'week' | 'month'
}

interface Key {
  budget?: Budget
  isRevoked: boolean
  /** What it has spent in each period, by the first day. */
  spentMicros: Map<string, number>
}

/** How much of its budget a key has used in a period. */
export interface BudgetUse {
  keyId: string
  budget: Budget
  firstDay: string
  spentMicros: number
}

/** The budgets of an account's keys. A refund gives back to the period of its debit. */
export class BudgetUses {
  readonly #keys = new Map<unknown, Key>()
  /** The key with a budget that each run was debited with, and the first day of the period. */
  readonly #debits = new Map<string, { key: Key; firstDay: string }>()

  /** Takes the next event of the stream. Returns the use after a debit of a key with a budget. */
  take(event: AuditedEvent): BudgetUse | undefined {
    const { type, data } = event
    if (type === 'ApiKeyCreated')
      this.#keys.set(data['keyId'], { ...(data as Partial<Key>), isRevoked: false, spentMicros: new Map() })
    const key = this.#keys.get(data['keyId'])
    if (key && type === 'ApiKeyRevoked') key.isRevoked = true
    if (type === 'CreditsRefunded') this.#giveBack(event)
    return type === 'CreditsDebited' ? this.#spend(event) : undefined
  }

  /** The first day of the period that a run was debited in, and whether its key was revoked since. */
  debitOf(runId: string): { firstDay?: string; isRevoked?: boolean } {
    const { key, firstDay } = this.#debits.get(runId) ?? {}
    return { ...(firstDay !== undefined && { firstDay }), ...(key && { isRevoked: key.isRevoked }) }
  }

  #spend(event: AuditedEvent): BudgetUse | undefined {
    const { keyId = '' } = event.metadata.actor as { keyId?: string }
    const key = this.#keys.get(keyId)
    if (!key?.budget) return undefined
    const { budget } = key
    const firstDay = firstDayOf(budget.period, clockOf(event))
    const spentMicros = (key.spentMicros.get(firstDay) ?? 0) + Number(event.data['amountMicros'])
    key.spentMicros.set(firstDay, spentMicros)
    this.#debits.set(runIdOf(event), { key, firstDay })
    return { keyId, budget, firstDay, spentMicros }
  }

  #giveBack(event: AuditedEvent) {
    const { key, firstDay } = this.#debits.get(runIdOf(event)) ?? {}
    if (!key || firstDay === undefined) return
    key.spentMicros.set(firstDay, (key.spentMicros.get(firstDay) ?? 0) - Number(event.data['amountMicros']))
  }
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
