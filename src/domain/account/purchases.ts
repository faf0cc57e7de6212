import type { AccountEvent } from '../../../schemas/account-events.ts'
import { MAX_REFERENCES, type PurchaseId } from '../../../schemas/primitives.ts'
import type { Money, PurchaseOpened, PurchasePaid } from '../../../schemas/purchase-events.ts'
import { DAY_MS } from '../days.ts'
import { accept, repeat } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { Grant, OpenedCheckout, OpenPurchase } from './commands.ts'
import { creditsGranted, hasRoomFor } from './credits.ts'
import { settledBy } from './debts.ts'
import { writeRefusal } from './keys.ts'
import type { AccountState, Purchase } from './state.ts'
import { hourlyWaitMs } from './webhooks.ts'

/** Purchases that were closed without a payment, which the state still holds. A page for a payment lasts a day. */
const MAX_CLOSED = 200

/** The references with which no purchase is opened any more: those that are left are for payments and claims. */
const MAX_REFERENCES_TO_OPEN = MAX_REFERENCES - 1000

/** Opens a purchase, so that a payment that follows always has one. */
export const openPurchase = (
  { keyId, purchase, perHour }: Omit<OpenPurchase, 'type'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  if (state.purchases.has(purchase.purchaseId)) return repeat(purchase.purchaseId)
  const { withdrawalDays: days, beginAtOnce } = purchase
  if (days !== undefined && !beginAtOnce) return refuse('begin_at_once_required', { days })
  const retryAfterMs = hourlyWaitMs(state.purchasesOpened.slice(-perHour), perHour, atMs)
  if (retryAfterMs !== undefined) return refuse('too_many_purchases', { limit: perHour, retryAfterMs })
  if (state.references.size > MAX_REFERENCES_TO_OPEN)
    return refuse('too_many_references', { limit: MAX_REFERENCES_TO_OPEN })
  if (!hasRoomFor(purchase.creditsMicros + (purchase.bonusMicros ?? 0), state))
    return refuse('balance_too_high', { balanceMicros: state.balanceMicros })
  return accept([{ type: 'PurchaseOpened', data: purchase }])
}

/** Records the page on which the purchase is paid, once. */
export const openCheckout = (
  { purchaseId, checkoutId, url, expiresAt }: OpenedCheckout,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = state.purchases.get(purchaseId)
  if (!purchase) return refuse('purchase_not_found')
  const checkout = { purchaseId, checkoutId, ...(url !== undefined && { url }), expiresAt }
  return accept(purchase.checkoutId === undefined ? [{ type: 'CheckoutOpened', data: checkout }] : [])
}

/**
 * Grants the credits of a payment, however often it is reported, and even if the purchase was closed before: the money
 * has arrived.
 */
export const payPurchase = (
  { payment }: { payment: PurchasePaid },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const { purchaseId, paymentId, amount, currency, tax, invoice } = payment
  const purchase = state.purchases.get(purchaseId)
  if (!purchase) return refuse('purchase_not_found')
  if (purchase.payment) return repeat(purchaseId)
  const { creditsMicros, bonusMicros, validDays } = purchase
  const expiresAt = validDays === undefined ? undefined : new Date(atMs + validDays * DAY_MS).toISOString()
  const lot = state.lots.size + 1
  const grants: Grant[] = [
    {
      ...{ kind: 'purchase', reference: paymentId, reason: 'bought', expiresAt, amountMicros: creditsMicros },
      payment: { amount, currency, ...(invoice !== undefined && { invoice }), ...(tax !== undefined && { tax }) },
    },
    ...(bonusMicros === undefined
      ? []
      : [{ ...BONUS, reference: `${paymentId} bonus`, expiresAt, amountMicros: bonusMicros }]),
  ]
  let { balanceMicros } = state
  const events = grants.map((grant, index) => {
    const event = creditsGranted({ ...state, balanceMicros }, grant, lot + index)
    balanceMicros += grant.amountMicros
    return event
  })
  const added = grants.map(({ kind, amountMicros }, index) => ({ lot: lot + index, kind, amountMicros }))
  // Nothing personal of an erased account is recorded.
  const { address: _, ...impersonal } = payment
  const data = state.erasure ? impersonal : payment
  return accept([{ type: 'PurchasePaid', data }, ...events, ...settledBy(state, added, balanceMicros)])
}

const BONUS = { kind: 'courtesy', reason: 'bonus of a purchase' } as const

/** Records what the payment service keeps of a payment, once. */
export const recordFee = (
  { purchaseId, amount, currency }: { purchaseId: PurchaseId } & Money,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = state.purchases.get(purchaseId)
  if (!purchase) return refuse('purchase_not_found')
  if (!purchase.payment) return refuse('purchase_not_paid')
  return purchase.payment.hasFee
    ? repeat(purchaseId)
    : accept([{ type: 'FeeCharged', data: { purchaseId, amount, currency } }])
}

/** Closes a purchase that was not paid. */
export const closePurchase = (
  { purchaseId, reason }: { purchaseId: PurchaseId; reason: 'expired' | 'failed' },
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = state.purchases.get(purchaseId)
  if (!purchase) return refuse('purchase_not_found')
  return accept(purchase.status === 'open' ? [{ type: 'PurchaseClosed', data: { purchaseId, reason } }] : [])
}

/** The state after a purchase was opened. */
export const addPurchase = (
  state: AccountState,
  {
    purchaseId,
    creditsMicros,
    bonusMicros,
    validDays,
    keepsMethod,
    methodOf,
    withdrawalDays,
    amount,
    currency,
  }: PurchaseOpened,
  atMs: number,
): AccountState => {
  const purchase: Purchase = {
    ...{ creditsMicros, amount, currency, status: 'open', claims: [] },
    ...(bonusMicros !== undefined && { bonusMicros }),
    ...(validDays !== undefined && { validDays }),
    ...(keepsMethod && { keepsMethod }),
    ...(methodOf && { methodOf }),
    ...(withdrawalDays !== undefined && { withdrawalDays }),
  }
  const purchases = state.purchases.set(purchaseId, purchase)
  return { ...state, purchases, purchasesOpened: [...state.purchasesOpened, atMs].slice(-MAX_OPENED) }
}

/** The most purchases in an hour that an operator can allow. */
export const MAX_OPENED = 100

/** The state with a changed purchase. Events of a purchase that was dropped change nothing. */
export const changePurchase = (
  state: AccountState,
  purchaseId: PurchaseId,
  change: (purchase: Purchase) => Partial<Purchase>,
): AccountState => {
  const purchase = state.purchases.get(purchaseId)
  if (!purchase) return state
  return { ...state, purchases: state.purchases.set(purchaseId, { ...purchase, ...change(purchase) }) }
}

/** The state after a purchase was closed, without the oldest closed ones. */
export const dropClosed = (state: AccountState): AccountState => {
  const closed = state.purchases.filter(({ status }) => status === 'closed')
  const excess = closed.size - MAX_CLOSED
  return excess > 0 ? { ...state, purchases: state.purchases.deleteAll(closed.keySeq().take(excess)) } : state
}

/** The state after a payment, whose credits are the next lots. */
export const addPayment = (
  state: AccountState,
  { purchaseId, paymentId, amount, currency }: PurchasePaid,
  paidAt: string,
): AccountState =>
  changePurchase(state, purchaseId, ({ bonusMicros }) => {
    const lot = state.lots.size + 1
    const payment = {
      paymentId,
      paidAt,
      amount,
      currency,
      lot,
      ...(bonusMicros !== undefined && { bonusLot: lot + 1 }),
    }
    return { status: 'paid', payment }
  })

export const addFee = (state: AccountState, { purchaseId }: { purchaseId: PurchaseId }): AccountState =>
  changePurchase(state, purchaseId, ({ payment }) => (payment ? { payment: { ...payment, hasFee: true } } : {}))
