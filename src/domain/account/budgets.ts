import type { BudgetPeriod, DebitFacts } from '../../../schemas/account-events.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import { DAY_MS, dayOf } from '../days.ts'
import { type Refusal, refuse } from '../refusal.ts'
import type { AccountState, ActiveKey } from './state.ts'

/**
 * Periods of a key whose sums are held, the last used first. One would be enough for a clock that only goes forward.
 * With more, neither two clocks that differ at midnight nor one that jumps and is set back start a period again.
 */
const MAX_PERIODS = 4

/** The state of a key's budget. */
export interface BudgetState {
  period: BudgetPeriod
  budgetMicros: number
  spentMicros: number
  /** When the next period begins, in ISO 8601. */
  renewsAt: string
}

/** A key's budget at a time, in ms since 1970; undefined if it has none. */
export const budgetAt = (key: Pick<ActiveKey, 'budget' | 'spent'>, atMs: number): BudgetState | undefined => {
  if (!key.budget) return undefined
  const { period, amountMicros } = key.budget
  const start = startOf(period, atMs)
  return { period, budgetMicros: amountMicros, spentMicros: spentIn(key, start), renewsAt: endOf(period, start) }
}

/** Why a key may not spend that much; undefined if it may. */
export const budgetRefusal = (
  keyId: KeyId | undefined,
  requiredMicros: number,
  atMs: number,
  { activeKeys }: AccountState,
): { refuse: Refusal } | undefined => {
  const key = keyId && activeKeys.get(keyId)
  const budget = key && budgetAt(key, atMs)
  if (!budget || budget.spentMicros + requiredMicros <= budget.budgetMicros) return undefined
  return refuse('budget_exceeded', { requiredMicros, ...budget })
}

/** The facts of a debit with the period that it counts in, if its key has a budget. */
export const withBudgetPeriod = (debit: DebitFacts, debitedAtMs: number, { activeKeys }: AccountState): DebitFacts => {
  const budget = debit.keyId && activeKeys.get(debit.keyId)?.budget
  return budget ? { ...debit, budgetPeriod: startOf(budget.period, debitedAtMs) } : debit
}

/** Of the use of a budget, the share in percent that its owner is warned at. */
const WARNING_PERCENT = 80

/** The use of a key's budget after a debit, if the debit reaches a share without a notice so far. */
export const reachedShare = (
  keyId: KeyId | undefined,
  amountMicros: number,
  atMs: number,
  { activeKeys }: AccountState,
): (BudgetState & { percent: number; firstDay: string }) | undefined => {
  const key = keyId && activeKeys.get(keyId)
  const budget = key && budgetAt(key, atMs)
  if (!budget) return undefined
  const { period, budgetMicros } = budget
  const spentMicros = budget.spentMicros + amountMicros
  const firstDay = startOf(period, atMs)
  const percent = spentMicros >= budgetMicros ? 100 : spentMicros >= warningMicros(budgetMicros) ? WARNING_PERCENT : 0
  const { toldPercent = 0 } = key.spent?.find(each => each.period === firstDay) ?? {}
  return percent > toldPercent ? { ...budget, spentMicros, percent, firstDay } : undefined
}

/** The state after the notice of a share of a budget. */
export const markBudgetNotice = (
  state: AccountState,
  keyId: KeyId,
  budgetPeriod: string,
  isExhausted: boolean,
): AccountState =>
  changeSpent(state, { keyId, budgetPeriod }, (spent, period) =>
    spent.map(each => (each.period === period ? { ...each, toldPercent: isExhausted ? 100 : WARNING_PERCENT } : each)),
  )

/** 80 % of a budget, rounded up. A product would leave the range of exact integers. */
const warningMicros = (budgetMicros: number): number =>
  budgetMicros - Math.floor(budgetMicros / (100 / (100 - WARNING_PERCENT)))

/** The state after a debit. */
export const spendBudget = (state: AccountState, debit: DebitFacts, amountMicros: number): AccountState =>
  changeSpent(state, debit, (spent, period) => {
    const before = spent.find(each => each.period === period) ?? { period, micros: 0 }
    const after = { ...before, micros: before.micros + amountMicros }
    return [after, ...spent.filter(each => each !== before)].slice(0, MAX_PERIODS)
  })

/** The state after a refund, which gives back to the period of its debit alone. */
export const refundBudget = (state: AccountState, debit: DebitFacts | undefined, amountMicros: number): AccountState =>
  changeSpent(state, debit, (spent, period) =>
    spent.map(each => (each.period === period ? { ...each, micros: Math.max(0, each.micros - amountMicros) } : each)),
  )

type Spent = NonNullable<ActiveKey['spent']>

const changeSpent = (
  state: AccountState,
  { keyId, budgetPeriod }: Pick<DebitFacts, 'keyId' | 'budgetPeriod'> = {},
  change: (spent: Spent, period: string) => Spent,
): AccountState => {
  const key = keyId && state.activeKeys.get(keyId)
  if (!key || budgetPeriod === undefined) return state
  const spent = change(key.spent ?? [], budgetPeriod)
  return { ...state, activeKeys: state.activeKeys.set(keyId, { ...key, spent }) }
}

const spentIn = ({ spent = [] }: Pick<ActiveKey, 'spent'>, start: string): number =>
  spent.find(({ period }) => period === start)?.micros ?? 0

/** The first day of the period that a time is in. */
const startOf = (period: BudgetPeriod, atMs: number): string => {
  if (period === 'week') return dayOf(atMs - ((new Date(atMs).getUTCDay() + 6) % 7) * DAY_MS)
  const day = dayOf(atMs)
  return period === 'day' ? day : `${day.slice(0, 'yyyy-mm'.length)}-01`
}

const endOf = (period: BudgetPeriod, start: string): string => {
  const end = new Date(start)
  if (period === 'month') end.setUTCMonth(end.getUTCMonth() + 1)
  else end.setUTCDate(end.getUTCDate() + (period === 'day' ? 1 : 7))
  return end.toISOString()
}
