import type { UsagePart } from '../../../projections/usage.ts'
import type { UsageRow } from '../../../schemas/views.ts'

export type SpendingPart = Exclude<UsagePart, 'day'>

/** The runs of a group, and their charges less what was refunded and released. */
export interface Spent {
  runs: number
  spentMicros: number
}

export interface Spending {
  /** The days that had some, oldest first. */
  days: (Spent & { day: string })[]
  /** The groups that spent most, the largest first. The name of the runs without one is undefined. */
  groups: (Spent & { name: string | undefined })[]
  /** All other groups together. */
  others: Spent & { count: number }
  total: Spent
}

/** Adds up rows by day and by another part. */
export class Spendings {
  readonly #by: SpendingPart
  readonly #days = new Map<string, Spent>()
  readonly #groups = new Map<string | undefined, Spent>()

  constructor(by: SpendingPart) {
    this.#by = by
  }

  add(rows: readonly UsageRow[]) {
    for (const row of rows) {
      const name = nameIn[this.#by](row)
      this.#days.set(row.day, plus(this.#days.get(row.day), spentIn(row)))
      this.#groups.set(name, plus(this.#groups.get(name), spentIn(row)))
    }
  }

  /** The sums so far, with the names of as many groups. A single further group is named too. */
  largest(limit: number): Spending {
    const all = [...this.#groups].map(([name, spent]) => ({ name, ...spent }))
    all.sort((one, other) => other.spentMicros - one.spentMicros || other.runs - one.runs)
    const count = all.length === limit + 1 ? all.length : limit
    const rest = all.slice(count)
    return {
      days: [...this.#days].map(([day, spent]) => ({ day, ...spent })),
      groups: all.slice(0, count),
      others: { count: rest.length, ...sumOf(rest) },
      total: sumOf(all),
    }
  }
}

const nameIn: Record<SpendingPart, (row: UsageRow) => string | undefined> = {
  model: ({ model }) => model,
  key: ({ keyId }) => keyId,
  label: ({ label }) => label,
}

const spentIn = ({ runs, chargedMicros, refundedMicros, releasedMicros }: UsageRow): Spent => ({
  runs,
  spentMicros: chargedMicros - refundedMicros - releasedMicros,
})

const NONE: Spent = { runs: 0, spentMicros: 0 }

const plus = (one: Spent = NONE, other: Spent): Spent => ({
  runs: one.runs + other.runs,
  spentMicros: one.spentMicros + other.spentMicros,
})

const sumOf = (spent: readonly Spent[]): Spent => spent.reduce((sum, each) => plus(sum, each), NONE)
