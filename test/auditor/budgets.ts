import type { Use } from './notices.ts'

type Facts = Record<string, unknown>

interface Budget {
  amountMicros: number
  period: string
  /** By the first day of the period. */
  spentMicros: Map<string, number>
}

/** The budgets of an account's keys, by the rules in `docs/ledger-format.md`. */
export class Budgets {
  readonly #budgets = new Map<unknown, Budget>()

  create({ keyId, budget }: Facts) {
    if (budget) this.#budgets.set(keyId, { ...(budget as Budget), spentMicros: new Map() })
  }

  /** The first day of the period that a debit of a key counts in; undefined if the key has no budget. */
  periodOf(keyId: unknown, time: string): string | undefined {
    const period = this.#budgets.get(keyId)?.period
    if (period === undefined) return undefined
    const day = new Date(time)
    day.setUTCHours(0, 0, 0, 0)
    while (period === 'week' && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
    if (period === 'month') day.setUTCDate(1)
    return day.toISOString().slice(0, 10)
  }

  /** The use of the budget of a debit, after it. */
  useOf({ keyId, budgetPeriod }: Facts): Use | undefined {
    const budget = this.#budgets.get(keyId)
    if (!budget || budgetPeriod === undefined) return undefined
    const period = String(budgetPeriod)
    const spentMicros = budget.spentMicros.get(period) ?? 0
    return { keyId, budgetPeriod: period, spentMicros, budgetMicros: budget.amountMicros }
  }

  /** Adds a debit, or takes a refund off. Returns false if the budget is passed. */
  move({ keyId, budgetPeriod }: Facts, amountMicros: number): boolean {
    const budget = this.#budgets.get(keyId)
    if (!budget || budgetPeriod === undefined) return true
    const spentMicros = (budget.spentMicros.get(String(budgetPeriod)) ?? 0) + amountMicros
    budget.spentMicros.set(String(budgetPeriod), spentMicros)
    return spentMicros <= budget.amountMicros
  }
}
