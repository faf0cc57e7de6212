import type { KeyBudgetState } from '../../../src/domain/account/budgets.ts'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import { Budgets } from '../../auditor/budgets.ts'

interface Facts {
  keyId?: string
  amountMicros: number
  debit?: { keyId?: string; budgetPeriod?: string }
}

const DAY_MS = 24 * 3_600_000

/** What the keys of one account have spent of their budgets, all of which are for a day. */
export class BudgetTruth {
  readonly #budgets = new Budgets()
  /** The sums of each key and period, with the positions of the events that changed them. */
  readonly #spent = new Map<string, { position: number; micros: number }[]>()

  follow({ type, data, metadata }: NewEvent, position: number) {
    const facts = data as Facts
    if (type === 'ApiKeyCreated') this.#budgets.create(data as Record<string, unknown>)
    if (type === 'CreditsDebited') {
      const { actor, at, clock = at } = metadata as { actor?: { keyId?: string }; at: string; clock?: string }
      const keyId = actor?.keyId
      this.#move({ keyId, budgetPeriod: this.#budgets.periodOf(keyId, clock) }, facts.amountMicros, position)
    }
    if (type === 'CreditsReleased' || type === 'CreditsRefunded')
      this.#move(facts.debit ?? {}, -facts.amountMicros, position)
  }

  /** Whether a key had spent as much, at some time since a position, as a refusal of a run says. */
  hasSpent(keyId: string, since: number, { spentMicros, renewsAt }: Pick<KeyBudgetState, 'spentMicros' | 'renewsAt'>) {
    const period = new Date(Date.parse(renewsAt) - DAY_MS).toISOString().slice(0, 10)
    const sums = this.#spent.get(`${keyId} ${period}`) ?? [{ position: -1, micros: 0 }]
    const first = sums.findLastIndex(({ position }) => position <= since)
    return sums.slice(Math.max(0, first)).some(({ micros }) => micros === spentMicros)
  }

  #move(debit: { keyId?: string | undefined; budgetPeriod?: string | undefined }, micros: number, position: number) {
    const { keyId, budgetPeriod } = debit
    if (keyId === undefined || budgetPeriod === undefined) return
    const name = `${keyId} ${budgetPeriod}`
    const sums = this.#spent.get(name) ?? [{ position: -1, micros: 0 }]
    this.#spent.set(name, [...sums, { position, micros: (sums.at(-1)?.micros ?? 0) + micros }])
  }
}
