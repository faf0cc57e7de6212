import type { Use } from './notices.ts'

type Facts = Record<string, unknown>

interface Budget {
  amountMicros: number
  period?: string
  /** By the first day of the period. */
  spentMicros: Map<string, number>
}

/** The budgets of an account and of its keys, by the rules in `docs/ledger-format.md`. */
export class Budgets {
  readonly #budgets = new Map<unknown, Budget>()
  readonly #named = new Map<unknown, Budget & { number: number }>()
  #numbers = 0

  create({ keyId, budget }: Facts) {
    if (budget) this.#budgets.set(keyId, { ...(budget as Budget), spentMicros: new Map() })
  }

  /** Returns false if the number is not the one that the budget has by now, or the next of the account. */
  set({ name, number, amountMicros, period }: Facts): boolean {
    const before = this.#named.get(name)
    const isSame = before !== undefined && before.period === period
    const expected = isSame ? before.number : ++this.#numbers
    const spentMicros = isSame ? before.spentMicros : new Map<string, number>()
    const limit = { amountMicros: Number(amountMicros), ...(period !== undefined && { period: String(period) }) }
    this.#named.set(name, { ...limit, number: expected, spentMicros })
    return number === expected
  }

  remove({ name }: Facts): boolean {
    return this.#named.delete(name)
  }

  /** Whether the budget that a debit names is there, and has this period at that time. */
  isInItsPeriod({ budget }: Facts, time: string): boolean {
    if (!budget) return true
    const { name, number, firstDay } = budget as Facts
    const named = this.#named.get(name)
    return named?.number === number && firstDay === (named?.period && firstDayOf(named.period, time))
  }

  /** The first day of the period that a debit of a key counts in; undefined if the key has no budget. */
  periodOf(keyId: unknown, time: string): string | undefined {
    const period = this.#budgets.get(keyId)?.period
    return period === undefined ? undefined : firstDayOf(period, time)
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
  move({ keyId, budgetPeriod, budget }: Facts, amountMicros: number): boolean {
    const ofKey = budgetPeriod === undefined ? undefined : this.#budgets.get(keyId)
    const { name, number, firstDay } = (budget ?? {}) as Facts
    const named = this.#named.get(name)
    const isWithinKey = moveIn(ofKey, budgetPeriod, amountMicros)
    return moveIn(named?.number === number ? named : undefined, firstDay, amountMicros) && isWithinKey
  }
}

const moveIn = (budget: Budget | undefined, period: unknown, amountMicros: number): boolean => {
  if (!budget) return true
  const spentMicros = (budget.spentMicros.get(String(period)) ?? 0) + amountMicros
  budget.spentMicros.set(String(period), spentMicros)
  return spentMicros <= budget.amountMicros
}

const firstDayOf = (period: string, time: string): string => {
  const day = new Date(time)
  day.setUTCHours(0, 0, 0, 0)
  while (period === 'week' && day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
  if (period === 'month') day.setUTCDate(1)
  return day.toISOString().slice(0, 10)
}
