import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { PurchaseId } from '../../../schemas/primitives.ts'
import type { PurchaseOpened } from '../../../schemas/purchase-events.ts'
import type { TopUpSet } from '../../../schemas/top-up-events.ts'
import { dayOf } from '../days.ts'
import { accept, type PastEvent } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { FailTopUp, OpenPurchase, SetTopUp } from './commands.ts'
import { writeRefusal } from './keys.ts'
import { areSame } from './limits.ts'
import { noticeRaised } from './notices.ts'
import { changePurchase, minorOf, openPurchase } from './purchases.ts'
import type { AccountState, TopUp } from './state.ts'

/** The pauses before another attempt. The failure after the last one ends the top-ups. */
const PAUSES_MS = [1, 24].map(hours => hours * 60 * 60 * 1000)

export const setTopUp = ({ keyId, settings }: SetTopUp, state: AccountState, atMs: number): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  if (!methodIn(state)) return refuse('no_kept_method')
  const { topUp } = state
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
  return state.topUp ? accept(topUpRemoved(state, 'owner')) : refuse('top_up_not_found')
}

/** The end of the top-ups, if there are any. A payment that is under way may still arrive, and grants its credits. */
export const topUpRemoved = ({ topUp }: AccountState, reason: 'owner' | 'erased'): AccountEvent[] => {
  if (!topUp) return []
  const { purchaseId } = topUp
  return [
    ...(purchaseId ? [{ type: 'PurchaseClosed', data: { purchaseId, reason: 'expired' } } as const] : []),
    ...(topUp.dueAt === undefined ? [] : [settled('unneeded')]),
    { type: 'TopUpRemoved', data: { reason } },
  ]
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
  if (leftMinor < paidInMonth(state, atMs) + givenUpInMonth(state, atMs)) return accept([due(endOfMonth(atMs))])
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
  const pauseMs = PAUSES_MS[topUp.failures]
  return accept([
    ...(purchaseId ? [{ type: 'PurchaseClosed', data: { purchaseId, reason: 'failed' } } as const] : []),
    settled('failed', code),
    ...(pauseMs === undefined
      ? [
          { type: 'TopUpRemoved', data: { reason: 'failures' } } as const,
          noticeRaised(state, { kind: 'top_up_stopped', code }),
        ]
      : [due(atMs + pauseMs)]),
  ])
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
  const settings = events.find(event => event.type === 'TopUpSet')?.data ?? state.topUp?.settings
  if (!settings || !events.some(isTrigger)) return decided
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

/** Nobody is charged for an account that may not run, or that has not paid for all that it has used. */
export const mayBuy = ({ suspension, owedMicros }: AccountState): boolean => !suspension && owedMicros === 0

/** The newest paid purchase whose payment method was kept. */
const methodIn = ({ purchases }: AccountState): PurchaseId | undefined =>
  purchases.findLastKey(({ keepsMethod, payment }) => keepsMethod === true && payment !== undefined)

/** What top-ups have paid in the month of a time, in the smallest units of their currency. */
export const paidInMonth = ({ topUp, purchases }: AccountState, atMs: number): bigint => {
  const month = monthOf(atMs)
  return purchases.reduce((sum, { methodOf, payment }) => {
    const counts = methodOf && payment?.currency === topUp?.settings.currency && payment?.paidAt.startsWith(month)
    return counts && payment ? sum + minorOf(payment) : sum
  }, 0n)
}

/** What may still be paid of top-ups that the owner gave up in the month of a time. */
const givenUpInMonth = ({ topUp, purchases }: AccountState, atMs: number): bigint =>
  purchases.reduce((sum, purchase) => {
    const { givenUpIn, payment, currency } = purchase
    const counts = givenUpIn === monthOf(atMs) && !payment && currency === topUp?.settings.currency
    return counts ? sum + minorOf(purchase) : sum
  }, 0n)

const monthOf = (atMs: number): string => dayOf(atMs).slice(0, 'yyyy-mm'.length)

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
export const keepTopUp = (state: AccountState, settings: TopUpSet): AccountState => ({
  ...state,
  topUp: { ...state.topUp, settings, failures: 0 },
})

/** The state after a purchase was opened, which may be that of a top-up. */
export const openAttempt = (state: AccountState, { purchaseId, methodOf }: PurchaseOpened): AccountState =>
  methodOf ? changeTopUp(state, { purchaseId }) : state

/** The state after a purchase was closed, which may be that of a top-up that its owner gave up. */
export const giveUp = (
  state: AccountState,
  { data: { purchaseId, reason }, metadata: { at } }: PastEvent<Extract<AccountEvent, { type: 'PurchaseClosed' }>>,
): AccountState =>
  changePurchase(state, purchaseId, ({ methodOf }) =>
    methodOf && reason === 'expired' ? { givenUpIn: monthOf(Date.parse(at)) } : {},
  )

/** The state after a top-up was settled. */
export const settleTopUp = (state: AccountState, outcome: 'paid' | 'failed' | 'unneeded'): AccountState => {
  if (!state.topUp) return state
  const { settings, failures } = state.topUp
  const counted = { paid: 0, failed: failures + 1, unneeded: failures }[outcome]
  return { ...state, topUp: { settings, failures: counted } }
}

/** The state with a changed top-up, if there are any. */
export const changeTopUp = (state: AccountState, change: Partial<TopUp>): AccountState =>
  state.topUp ? { ...state, topUp: { ...state.topUp, ...change } } : state
