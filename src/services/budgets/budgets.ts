import type { BudgetPeriod } from '../../../schemas/account-events.ts'
import { normalized } from '../../../schemas/names.ts'
import { type BudgetState, namedBudgetAt } from '../../domain/account/budgets.ts'
import type { AccountState } from '../../domain/account/state.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'
import type { Page } from '../views/newest-first.ts'

interface Dependencies {
  accounts: Pick<AccountMailboxes, 'shownState' | 'currentState' | 'state' | 'execute'>
  clock: Clock
}

export interface NewBudget {
  name: string
  amountMicros: number
  period?: BudgetPeriod | undefined
}

export interface BudgetInfo extends BudgetState {
  name: string
}

/** Sets, shows and removes the named budgets of an account. They come from its state, which decides on them. */
export class Budgets {
  readonly #dependencies: Dependencies

  readonly permissions = { set: 'settings', page: 'read', find: 'read', remove: 'settings' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Creates a budget, or changes the one of this name. */
  async set(caller: AccountCaller, budget: NewBudget): Promise<Answer<BudgetInfo & { isNew: boolean }>> {
    const { accounts } = this.#dependencies
    const command = { type: 'SetBudget', keyId: keyIdOf(caller), ...budget } as const
    const before = (await accounts.currentState(caller.accountId)).budgets.has(budget.name)
    const outcome = await accounts.execute(caller, caller.accountId, command)
    if ('refuse' in outcome) return outcome
    const found = this.#find(await accounts.state(caller.accountId), budget.name)
    if ('value' in found) return answer({ ...found.value, isNew: !before })
    // It was removed right after.
    const { name, amountMicros, period } = budget
    const asSet = { number: 0, budget: { amountMicros, ...(period && { period }) } }
    return answer({ name, ...namedBudgetAt(asSet, this.#dependencies.clock.nowMs()), isNew: !before })
  }

  /** A page of the budgets, in the order of their names. The cursor is the last name of the page before. */
  async page(
    { accountId }: AccountCaller,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<Answer<Page<BudgetInfo, string>>> {
    const { budgets } = await this.#dependencies.accounts.shownState(accountId)
    const names = [...budgets.keys()].filter(name => cursor === undefined || name > cursor).sort(byCodeUnits)
    const shown = names.slice(0, limit)
    const atMs = this.#dependencies.clock.nowMs()
    const found = shown.flatMap(name => {
      const budget = budgets.get(name)
      return budget ? [{ name, ...namedBudgetAt(budget, atMs) }] : []
    })
    return answer({ found, next: names.length > limit ? (shown.at(-1) ?? null) : null })
  }

  async find({ accountId }: AccountCaller, name: string): Promise<Answer<BudgetInfo>> {
    return this.#find(await this.#dependencies.accounts.shownState(accountId), normalized(name))
  }

  async remove(caller: AccountCaller, name: string): Promise<Answer<undefined>> {
    const command = { type: 'RemoveBudget', keyId: keyIdOf(caller), name: normalized(name) } as const
    const outcome = await this.#dependencies.accounts.execute(caller, caller.accountId, command)
    return 'refuse' in outcome ? outcome : answer(undefined)
  }

  #find({ budgets }: AccountState, name: string): Answer<BudgetInfo> {
    const budget = budgets.get(name)
    if (!budget) return refuse('budget_not_found')
    return answer({ name, ...namedBudgetAt(budget, this.#dependencies.clock.nowMs()) })
  }
}

/** The order that a cursor is compared in. */
const byCodeUnits = (one: string, other: string) => (one < other ? -1 : 1)
