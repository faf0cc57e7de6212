import { clockOf } from '../../../schemas/recorded.ts'
import { type AuditedEvent, type Report, type Rule, runIdOf } from '../fault.ts'
import { type Budget, firstDayOf } from './keys.ts'

/**
 * A debit counts in a named budget that exists, under the budget's number and in the period of its time, and does not
 * pass it. Refunds and releases repeat the budget of their debit, and give back to it. A budget has a new number after
 * a removal, and with another period.
 */
export class NamedBudgets implements Rule {
  readonly #budgets = new Map<unknown, SetBudget>()
  #lastNumber = 0
  /** The sums of each number and period. */
  readonly #spentMicros = new Map<string, number>()
  /** What each run with a budget has recorded of it. */
  readonly #uses = new Map<string, Use>()

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    if (type === 'BudgetSet') this.#set(data as unknown as SetBudget & { name: string }, report)
    if (type === 'BudgetRemoved' && !this.#budgets.delete(data['name']))
      report(`the account has no budget ${JSON.stringify(data['name'])}`)
    if (type === 'CreditsDebited' && data['budget'] !== undefined) this.#spend(event, data['budget'] as Use, report)
    if (type === 'CreditsRefunded' || type === 'CreditsReleased') this.#giveBack(event, report)
  }

  #set({ name, ...budget }: SetBudget & { name: string }, report: Report) {
    const before = this.#budgets.get(name)
    const number = before && before.period === budget.period ? before.number : this.#lastNumber + 1
    if (budget.number !== number) report(`its number is ${budget.number}, and should be ${number}`)
    this.#lastNumber = Math.max(this.#lastNumber, budget.number)
    this.#budgets.set(name, budget)
  }

  #spend(event: AuditedEvent, use: Use, report: Report) {
    const { name, number, firstDay } = use
    this.#uses.set(runIdOf(event), use)
    const spentMicros = this.#add(use, Number(event.data['amountMicros']))
    const budget = this.#budgets.get(name)
    if (budget?.number !== number)
      return report(`the account has no budget ${JSON.stringify(name)} of number ${number}`)
    const day = budget.period && firstDayOf(budget.period, clockOf(event))
    if (firstDay !== day)
      report(`it counts in the period from ${firstDay ?? 'none'}, and its time is in ${day ?? 'none'}`)
    if (spentMicros > budget.amountMicros)
      report(`${spentMicros} of the budget ${JSON.stringify(name)} of ${budget.amountMicros} are spent`)
  }

  #giveBack(event: AuditedEvent, report: Report) {
    const { debit } = event.data as { debit?: { budget?: Use } }
    const use = this.#uses.get(runIdOf(event))
    // The oldest refunds repeat nothing.
    if (debit && placeOf(debit.budget) !== placeOf(use))
      report(`it gives back to ${placeOf(debit.budget)}, and its debit was in ${placeOf(use)}`)
    if (use) this.#add(use, -Number(event.data['amountMicros']))
  }

  #add(use: Use, micros: number): number {
    const place = placeOf(use)
    const sum = (this.#spentMicros.get(place) ?? 0) + micros
    this.#spentMicros.set(place, sum)
    return sum
  }
}

interface SetBudget {
  number: number
  amountMicros: number
  period?: Budget['period']
}

interface Use {
  name: string
  number: number
  firstDay?: string
}

/** The count that a debit belongs to. */
const placeOf = (use: Use | undefined): string =>
  use
    ? `the budget ${JSON.stringify(use.name)} of number ${use.number} from ${use.firstDay ?? 'its start'}`
    : 'no budget'
