import type { BudgetPeriod, BudgetUse, DebitFacts } from '../../../schemas/account-events.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import { DAY_MS, dayOf } from '../days.ts'
import { type Refusal, refuse } from '../refusal.ts'
import type { AccountState, ActiveKey, NamedBudget, SpentInPeriod } from './state.ts'

/**
 * Periods of a budget whose sums are held, the last used first. One would be enough for a clock that only goes forward.
 * With more, neither two clocks that differ at midnight nor one that jumps and is set back start a period again.
 */
const MAX_PERIODS = 4

/** The state of a budget. */
export interface BudgetState {
  /** Missing if the budget is for once. */
  period?: BudgetPeriod
  budgetMicros: number
  spentMicros: number
  /** When the next period begins, in ISO 8601; missing if the budget is for once. */
  renewsAt?: string
}

/** The state of a key's budget. */
export type KeyBudgetState = Required<BudgetState>

/** A key with a budget, or a named budget: a limit for debits less refunds, and their sums so far. */
interface Limited {
  budget: { amountMicros: number; period?: BudgetPeriod }
  spent?: SpentInPeriod[]
}

/** A key's budget at a time, in ms since 1970; undefined if it has none. */
export const budgetAt = (
  { budget, spent = [] }: Pick<ActiveKey, 'budget' | 'spent'>,
  atMs: number,
): KeyBudgetState | undefined => budget && (useAt({ budget, spent }, atMs) as KeyBudgetState)

/** A named budget at a time, in ms since 1970. */
export const namedBudgetAt = (budget: NamedBudget, atMs: number): BudgetState => useAt(budget, atMs)

const useAt = ({ budget: { amountMicros, period }, spent = [] }: Limited, atMs: number): BudgetState => {
  const start = startOf(period, atMs)
  const spentMicros = spent.find(each => each.period === start)?.micros ?? 0
  return { budgetMicros: amountMicros, spentMicros, ...(period && { period, renewsAt: endOf(period, start) }) }
}

/** What a run that is asked for spends from: a key, and a named budget. */
interface Spending {
  keyId?: KeyId
  budget?: string
}

/** Why a run may not be charged to a named budget; undefined if the budget exists, or none is named. */
export const unknownBudget = (
  { budget: name }: Spending,
  { budgets }: Pick<AccountState, 'budgets'>,
): { refuse: Refusal } | undefined =>
  name === undefined || budgets.has(name) ? undefined : refuse('run_budget_unknown', { name })

/** Why that much may not be spent; undefined if the budgets allow it. */
export const budgetRefusal = (
  { keyId, budget: name }: Spending,
  requiredMicros: number,
  atMs: number,
  { activeKeys, budgets }: AccountState,
): { refuse: Refusal } | undefined => {
  const key = keyId && activeKeys.get(keyId)
  const ofKey = key && budgetAt(key, atMs)
  if (ofKey && isExceeded(ofKey, requiredMicros))
    return refuse('budget_exceeded', { of: 'key', requiredMicros, ...ofKey })
  const named = name === undefined ? undefined : budgets.get(name)
  const ofName = named && namedBudgetAt(named, atMs)
  return name !== undefined && ofName && isExceeded(ofName, requiredMicros)
    ? refuse('budget_exceeded', { of: 'budget', name, requiredMicros, ...ofName })
    : undefined
}

const isExceeded = ({ budgetMicros, spentMicros }: BudgetState, requiredMicros: number): boolean =>
  spentMicros + requiredMicros > budgetMicros

/** What the debit of a run records of its named budget, which exists; undefined if it names none. */
export const budgetUse = (
  { budget: name }: Spending,
  atMs: number,
  { budgets }: AccountState,
): BudgetUse | undefined => {
  const named = name === undefined ? undefined : budgets.get(name)
  if (name === undefined || !named) return undefined
  const firstDay = startOf(named.budget.period, atMs)
  return { name, number: named.number, ...(firstDay !== ONCE && { firstDay }) }
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
): (KeyBudgetState & { percent: number; firstDay: string }) | undefined => {
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

/** The state after the notice of a share of a key's budget. */
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

type SpentOf = Pick<DebitFacts, 'keyId' | 'budgetPeriod' | 'budget'>
type SpentChange = (spent: SpentInPeriod[], period: string) => SpentInPeriod[]

const changeSpent = (state: AccountState, debit: SpentOf = {}, change: SpentChange): AccountState =>
  changeNamed(changeKey(state, debit, change), debit, change)

const changeKey = (state: AccountState, { keyId, budgetPeriod }: SpentOf, change: SpentChange): AccountState => {
  const key = keyId && state.activeKeys.get(keyId)
  if (!key || budgetPeriod === undefined) return state
  const spent = change(key.spent ?? [], budgetPeriod)
  return { ...state, activeKeys: state.activeKeys.set(keyId, { ...key, spent }) }
}

/** A budget that was removed or counts anew since has another number, or is gone. */
const changeNamed = (state: AccountState, { budget: use }: SpentOf, change: SpentChange): AccountState => {
  const named = use && state.budgets.get(use.name)
  if (!named || named.number !== use.number) return state
  const spent = change(named.spent ?? [], use.firstDay ?? ONCE)
  return { ...state, budgets: state.budgets.set(use.name, { ...named, spent }) }
}

/** The only period of a budget for once. */
const ONCE = ''

/** The first day of the period that a time is in. */
const startOf = (period: BudgetPeriod | undefined, atMs: number): string => {
  if (period === undefined) return ONCE
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
