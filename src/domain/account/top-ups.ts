import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { PurchaseId } from '../../../schemas/primitives.ts'
import type { PurchaseOpened } from '../../../schemas/purchase-events.ts'
import type { TopUpSet } from '../../../schemas/top-up-events.ts'
import { dayOf } from '../days.ts'
import { accept } from '../decider.ts'
import { minorOf } from '../decimal-amounts.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { EndTopUp, FailTopUp, OpenPurchase, SetTopUp } from './commands.ts'
import { writeRefusal } from './keys.ts'
import { areSame } from './limits.ts'
import { noticeRaised } from './notices.ts'
import { openPurchase } from './purchases.ts'
import type { AccountState, TopUp } from './state.ts'

/** The pauses before another attempt. The failure after the last one ends the top-ups. */
const PAUSES_MS = [1, 24].map(hours => hours * 60 * 60 * 1000)

/** Longer than a charge can take. */
const CHARGING_MS = 30 * 60 * 1000

/** Undefined also if top-ups were removed, and an attempt is still to be settled. */
export const activeTopUp = ({ topUp }: AccountState): TopUp | undefined =>
  topUp?.removedAt === undefined ? topUp : undefined

/** Since when the attempt that is under way charges nothing, unless the account owes credits. In ISO 8601. */
const stoppedSince = ({ topUp, suspension }: AccountState): string | undefined => topUp?.removedAt ?? suspension?.since

export const setTopUp = ({ keyId, settings }: SetTopUp, state: AccountState, atMs: number): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  if (!methodIn(state)) return refuse('no_kept_method')
  const topUp = activeTopUp(state)
  if (topUp && areSame(topUp.settings, settings)) return accept([])
  // What waits for a month or a bank may be possible at once with other settings.
  const waits = topUp?.dueAt !== undefined && topUp.purchaseId === undefined
  return accept([...(waits ? [settled('unneeded')] : []), { type: 'TopUpSet', data: settings }])
}

export const removeTopUp = (
  { keyId }: Pick<SetTopUp, 'keyId'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  return activeTopUp(state) ? accept(topUpRemoved(state, 'owner')) : refuse('top_up_not_found')
}

/** The end of the top-ups, if there are any. A charge may be under way, so an attempt with a purchase stays due. */
export const topUpRemoved = (state: AccountState, reason: 'owner' | 'erased'): AccountEvent[] => {
  const topUp = activeTopUp(state)
  if (!topUp) return []
  const waits = topUp.dueAt !== undefined && topUp.purchaseId === undefined
  return [...(waits ? [settled('unneeded')] : []), { type: 'TopUpRemoved', data: { reason } }]
}

/** Settles an attempt that has charged nothing, once no charge can be under way any more. */
export const endTopUp = (
  { purchaseId }: Omit<EndTopUp, 'type'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const since = stoppedSince(state)
  if (since === undefined || state.topUp?.purchaseId !== purchaseId) return accept([])
  if (atMs < Date.parse(since) + CHARGING_MS) return accept([])
  return accept([{ type: 'PurchaseClosed', data: { purchaseId, reason: 'expired' } }, settled('unneeded')])
}

/** Opens the purchase of a top-up that is due, or puts it off to the next month. */
export const openTopUp = (
  { purchase, perHour }: Pick<OpenPurchase, 'purchase' | 'perHour'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const { topUp } = state
  if (topUp?.dueAt === undefined || topUp.purchaseId || atMs < Date.parse(topUp.dueAt)) return refuse('top_up_not_due')
  if (!isNeeded(topUp, state)) return accept([settled('unneeded')])
  const { monthlyAmount: amount, currency } = topUp.settings
  if (currency !== purchase.currency) return failTopUp({ code: 'currency_changed' }, state, atMs)
  const leftMinor = minorOf({ amount }) - minorOf(purchase)
  if (leftMinor < 0n) return failTopUp({ code: 'above_monthly_amount' }, state, atMs)
  if (leftMinor < paidInMonth(state, atMs)) return accept([due(endOfMonth(atMs))])
  const methodOf = methodIn(state)
  if (!methodOf) return failTopUp({ code: 'no_kept_method' }, state, atMs)
  return openPurchase({ purchase: { ...purchase, methodOf }, perHour }, state, atMs)
}

/** Records that a top-up failed, once. The last failure ends the top-ups, and tells the owner. */
export const failTopUp = (
  { code, purchaseId }: Omit<FailTopUp, 'type'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const { topUp } = state
  if (topUp?.dueAt === undefined || topUp.purchaseId !== purchaseId) return accept([])
  const failed: AccountEvent[] = [
    ...(purchaseId ? [{ type: 'PurchaseClosed', data: { purchaseId, reason: 'failed' } } as const] : []),
    settled('failed', code),
  ]
  if (!activeTopUp(state)) return accept(failed)
  const pauseMs = PAUSES_MS[topUp.failures]
  if (pauseMs !== undefined) return accept([...failed, due(atMs + pauseMs)])
  const removed: AccountEvent = { type: 'TopUpRemoved', data: { reason: 'failures' } }
  return accept([...failed, removed, noticeRaised(state, { kind: 'top_up_stopped', code })])
}

/** Events after which a balance below the limit is topped up. Refunds and expiry are none: nobody has used credits. */
const TRIGGERS = new Set<AccountEvent['type']>(['CreditsDebited', 'TopUpSet', 'AccountResumed'])

/**
 * Adds what events mean for top-ups, in their append: a payment settles one, and too few credits make one due. So there
 * is one at a time.
 */
export const withTopUp = (decided: Decided<AccountEvent>, state: AccountState, atMs: number): Decided<AccountEvent> => {
  if (!('accept' in decided)) return decided
  const isPaid = decided.accept.some(
    ({ type, data }) => type === 'PurchasePaid' && data.purchaseId === state.topUp?.purchaseId,
  )
  const events = isPaid ? [...decided.accept, settled('paid')] : decided.accept
  const settings = events.find(event => event.type === 'TopUpSet')?.data ?? activeTopUp(state)?.settings
  if (!settings || !events.some(isTrigger)) return { ...decided, accept: events }
  const isUnderWay = state.topUp?.dueAt !== undefined && !events.some(({ type }) => type === 'TopUpSettled')
  const balanceMicros = events.reduce(balanceAfter, state.balanceMicros)
  const isResumed = events.some(({ type }) => type === 'AccountResumed')
  const after = { ...state, balanceMicros, ...(isResumed && { suspension: undefined }) }
  const isDue = !isUnderWay && isNeeded({ settings }, after)
  return { ...decided, accept: isDue ? [...events, due(atMs)] : events }
}

const isTrigger = ({ type, data }: AccountEvent) =>
  TRIGGERS.has(type) || (type === 'TopUpSettled' && data.outcome === 'paid')

const balanceAfter = (balanceMicros: number, { data }: AccountEvent): number =>
  'balanceAfterMicros' in data ? data.balanceAfterMicros : balanceMicros

const isNeeded = ({ settings }: Pick<TopUp, 'settings'>, state: AccountState): boolean =>
  state.balanceMicros < settings.underMicros && mayBuy(state)

/** Accounts that may not run, or owe credits, are not charged. */
const mayBuy = ({ suspension, owedMicros }: AccountState): boolean => !suspension && owedMicros === 0

/** Whether the attempt that is under way may charge. */
export const mayCharge = (state: AccountState): boolean => activeTopUp(state) !== undefined && mayBuy(state)

/** The newest paid purchase whose payment method was kept. */
const methodIn = ({ purchases }: AccountState): PurchaseId | undefined =>
  purchases.findLastKey(({ keepsMethod, payment }) => keepsMethod === true && payment !== undefined)

/**
 * What top-ups have paid in the month of a time, in the smallest units of their currency. A payment that is recorded
 * later counts too: the clock was ahead.
 */
export const paidInMonth = ({ topUp, purchases }: AccountState, atMs: number): bigint => {
  const month = dayOf(atMs).slice(0, 'yyyy-mm'.length)
  return purchases.reduce((sum, { methodOf, payment }) => {
    if (!methodOf || payment?.currency !== topUp?.settings.currency) return sum
    return payment && payment.paidAt >= month ? sum + minorOf(payment) : sum
  }, 0n)
}

const endOfMonth = (atMs: number): number => {
  const at = new Date(atMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}

const due = (atMs: number): AccountEvent => ({ type: 'TopUpDue', data: { at: new Date(atMs).toISOString() } })

const settled = (outcome: 'paid' | 'failed' | 'unneeded', code?: string): AccountEvent => ({
  type: 'TopUpSettled',
  data: { outcome, ...(code !== undefined && { code }) },
})

/** The state after the owner has set top-ups. An attempt that is under way goes on. */
export const keepTopUp = (state: AccountState, settings: TopUpSet): AccountState => {
  const { removedAt: _, ...attempt }: Partial<TopUp> = state.topUp ?? {}
  return { ...state, topUp: { ...attempt, settings, failures: 0 } }
}

/** The state after top-ups were removed. What is under way is still to be settled. */
export const dropTopUp = (state: AccountState, removedAt: string): AccountState => ({
  ...state,
  topUp: state.topUp?.dueAt === undefined ? undefined : { ...state.topUp, removedAt },
})

/** The state after a purchase was opened, which may be that of a top-up. */
export const openAttempt = (state: AccountState, { purchaseId, methodOf }: PurchaseOpened): AccountState =>
  methodOf ? changeTopUp(state, { purchaseId }) : state

/** The state after a top-up was settled. */
export const settleTopUp = (state: AccountState, outcome: 'paid' | 'failed' | 'unneeded'): AccountState => {
  const topUp = activeTopUp(state)
  if (!topUp) return { ...state, topUp: undefined }
  const { settings, failures } = topUp
  const counted = { paid: 0, failed: failures + 1, unneeded: failures }[outcome]
  return { ...state, topUp: { settings, failures: counted } }
}

/** The state with a changed top-up, if there are any. */
export const changeTopUp = (state: AccountState, change: Partial<TopUp>): AccountState =>
  state.topUp ? { ...state, topUp: { ...state.topUp, ...change } } : state
