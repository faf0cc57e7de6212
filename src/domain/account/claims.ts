import type { AccountEvent, GrantKind } from '../../../schemas/account-events.ts'
import type { PurchaseId } from '../../../schemas/primitives.ts'
import type { Money } from '../../../schemas/purchase-events.ts'
import { stepOf } from '../currencies.ts'
import { amountOf, minorOf } from '../decimal-amounts.ts'
import { refuse } from '../refusal.ts'
import { afterReturn } from './credits.ts'
import { withdrawn } from './debts.ts'
import { lotOf } from './lots.ts'
import { changePurchase } from './purchases.ts'
import type { AccountState, Claim, Purchase } from './state.ts'

// Claims on a payment: refunds and disputes. Each has an ID, so a repeated report changes nothing, and reports may come
// in any order.

export type PaidPurchase = Purchase & { payment: NonNullable<Purchase['payment']> }

/** The state after an event that makes a claim. */
export const addClaim = (
  state: AccountState,
  kind: Claim['kind'],
  status: Claim['status'],
  { purchaseId, bonusWithdrawnMicros = 0, ...claim }: Claimed,
): AccountState => {
  const added = { ...claim, kind, status, bonusWithdrawnMicros, owedMicros: 0, settledMicros: 0 }
  return changePurchase(state, purchaseId, ({ claims }) => ({
    claims: [...claims.filter(({ claimId }) => claimId !== claim.claimId), added],
  }))
}

/** The state after a claim was accepted or reversed. */
export const setClaimStatus = (
  state: AccountState,
  kind: Claim['kind'],
  status: Claim['status'],
  { purchaseId, claimId }: { purchaseId: PurchaseId; claimId: string },
): AccountState => {
  const known = state.purchases.get(purchaseId)?.claims.find(claim => claim.claimId === claimId)
  if (!known) return addClaim(state, kind, status, { purchaseId, claimId, ...UNKNOWN })
  return changePurchase(state, purchaseId, ({ claims }) => ({
    claims: claims.map(claim => (claim === known ? { ...claim, status } : claim)),
  }))
}

const UNKNOWN = { amount: '0', currency: 'XXX', creditsMicros: 0, withdrawnMicros: 0 }

/** The money of a claim. */
export type ClaimedMoney = Money & { purchaseId: PurchaseId; claimId: string }

interface Claimed extends Money {
  purchaseId: PurchaseId
  claimId: string
  creditsMicros: number
  withdrawnMicros: number
  bonusWithdrawnMicros?: number
}

export const findPaid = ({ purchases }: AccountState, purchaseId: PurchaseId) => {
  const purchase = purchases.get(purchaseId)
  if (!purchase) return refuse('purchase_not_found')
  return purchase.payment ? (purchase as PaidPurchase) : refuse('purchase_not_paid')
}

export const claimOf = ({ claims }: Purchase, claimId: string): Claim | undefined =>
  claims.find(claim => claim.claimId === claimId)

/**
 * The credits that a claim takes. Together, claims take what their money has bought, rounded up, and never more than
 * the purchase had.
 */
export const claimed = (state: AccountState, purchase: PaidPurchase, claim: ClaimedMoney): Claimed => {
  const { payment, creditsMicros, bonusMicros = 0 } = purchase
  const minor = claimedMinorOf(purchase) + partOf(payment, claim)
  // Claims that have ended may have left others with a rounded microcredit too much.
  const share = Math.max(0, shareOf(purchase, minor) - claimedMicrosOf(purchase))
  const withdrawnMicros = Math.min(share, lotOf(state, payment.lot).leftMicros)
  const bonusShare = ceilShare(bonusMicros, BigInt(share), BigInt(creditsMicros))
  const bonusLeft = payment.bonusLot === undefined ? 0 : lotOf(state, payment.bonusLot).leftMicros
  const bonusWithdrawnMicros = Math.min(bonusShare, bonusLeft)
  return { ...claim, creditsMicros: share, withdrawnMicros, ...(bonusWithdrawnMicros > 0 && { bonusWithdrawnMicros }) }
}

/** The claimed part of a payment: all of it if a bank claims in another currency. */
const partOf = (payment: Money, claim: Money): bigint => minorOf(claim.currency === payment.currency ? claim : payment)

export const standingClaims = ({ claims }: Purchase): Claim[] => claims.filter(({ status }) => status !== 'reversed')

/**
 * Refuses a claim if the payment is too small for it and for all requested refunds. The payment service will refuse
 * some of these, and the credits that they have withdrawn then belong to the claim.
 */
export const uncoveredRefunds = (purchase: PaidPurchase, made: Money) => {
  const { payment } = purchase
  const standing = standingClaims(purchase)
  const others = standing.filter(({ status }) => status !== 'requested')
  let left = [made, ...others].reduce((rest, claim) => rest - partOf(payment, claim), minorOf(payment))
  const refunds = standing.filter(claim => {
    if (claim.status !== 'requested') return false
    const part = partOf(payment, claim)
    if (part > left) return true
    left -= part
    return false
  })
  return refunds.length > 0 ? refuse('refunds_uncovered', { refunds: refunds.map(toMoney) }) : undefined
}

const toMoney = ({ claimId, amount, currency }: Claim) => ({ claimId, amount, currency })

const ceilShare = (micros: number, part: bigint, whole: bigint): number =>
  whole === 0n ? micros : Number((BigInt(micros) * part + whole - 1n) / whole)

/** The used credits of a purchase: those that are neither left, nor expired, nor withdrawn. */
export const usedOf = (state: AccountState, purchase: PaidPurchase): number => {
  const { leftMicros, expiredMicros = 0 } = lotOf(state, purchase.payment.lot)
  const withdrawnMicros = standingClaims(purchase).reduce((sum, claim) => sum + claim.withdrawnMicros, 0)
  return Math.max(0, purchase.creditsMicros - leftMicros - expiredMicros - withdrawnMicros)
}

/** What was paid for unused credits, expired ones included, less the claims. */
export const unusedWorth = (state: AccountState, purchase: PaidPurchase): Money => {
  const { payment, creditsMicros } = purchase
  const unusedMicros = creditsMicros - usedOf(state, purchase)
  const minor = (BigInt(unusedMicros) * minorOf(payment)) / BigInt(creditsMicros) - claimedMinorOf(purchase)
  return { amount: amountOf(payable(minor, payment), payment.currency), currency: payment.currency }
}

/** The credits that the standing claims of a purchase should have taken, less those that they took. */
export const missingOf = (purchase: PaidPurchase): number => {
  const minor = claimedMinorOf(purchase)
  return (minor === 0n ? 0 : shareOf(purchase, minor)) - claimedMicrosOf(purchase)
}

/** The credits that a part of a payment, in the smallest units, has bought. */
const shareOf = ({ payment, creditsMicros }: PaidPurchase, minor: bigint): number =>
  Math.min(creditsMicros, ceilShare(creditsMicros, minor, minorOf(payment)))

/** The most of an amount, in the smallest units, that the payment service can return. */
const payable = (minor: bigint, { currency }: Money): bigint => (minor > 0n ? minor - (minor % stepOf(currency)) : 0n)

/** What was paid for the credits that are left, in the smallest units, as far as it can be returned. */
export const leftWorth = (state: AccountState, purchase: PaidPurchase): bigint => {
  const { payment, creditsMicros } = purchase
  const claimedMinor = claimedMinorOf(purchase)
  const paidMinor = minorOf(payment)
  const reachableMicros = claimedMicrosOf(purchase) + lotOf(state, payment.lot).leftMicros
  const reachable = (BigInt(reachableMicros) * paidMinor) / BigInt(creditsMicros)
  const most = reachable < paidMinor ? reachable : paidMinor
  return payable(most - claimedMinor, purchase.payment)
}

const claimedMicrosOf = (purchase: PaidPurchase): number =>
  standingClaims(purchase).reduce((sum, claim) => sum + claim.creditsMicros, 0)

const claimedMinorOf = (purchase: PaidPurchase): bigint =>
  standingClaims(purchase).reduce((sum, claim) => sum + partOf(purchase.payment, claim), 0n)

/** Withdraws the credits of a claim from the lots of its purchase. */
export const takings = (
  state: AccountState,
  { payment }: PaidPurchase,
  { claimId, withdrawnMicros, bonusWithdrawnMicros = 0 }: Claimed,
  reason: string,
): AccountEvent[] => {
  const balanceAfterMicros = state.balanceMicros - withdrawnMicros
  const taken = { amountMicros: withdrawnMicros, balanceAfterMicros, kind: 'purchase', lot: payment.lot } as const
  const bonus = {
    amountMicros: bonusWithdrawnMicros,
    balanceAfterMicros: balanceAfterMicros - bonusWithdrawnMicros,
    kind: 'courtesy',
    lot: payment.bonusLot ?? 0,
  } as const
  return [
    ...(withdrawnMicros > 0 ? withdrawn(state, taken, claimId, reason) : []),
    ...(bonusWithdrawnMicros > 0 ? withdrawn(state, bonus, `${claimId} bonus`, reason) : []),
  ]
}

/** The credits of a reversed claim, back in their lots, with what other credits have paid of its debt. */
export const returns = (
  state: AccountState,
  { payment }: PaidPurchase,
  { claimId, withdrawnMicros, settledMicros, bonusWithdrawnMicros }: Claim,
  reason: string,
): AccountEvent[] => {
  const { lot, bonusLot = 0 } = payment
  const bought = {
    lot,
    amountMicros: withdrawnMicros + settledMicros,
    kind: 'purchase',
    reference: `${claimId} returned`,
  }
  const reference = `${claimId} bonus returned`
  const bonus = { lot: bonusLot, amountMicros: bonusWithdrawnMicros, kind: 'courtesy', reference }
  const returned = [bought, bonus].filter(({ amountMicros }) => amountMicros > 0)
  let balanceAfterMicros = state.balanceMicros
  const grants = returned.map(({ kind, ...grant }): AccountEvent => {
    balanceAfterMicros += grant.amountMicros
    return { type: 'CreditsGranted', data: { ...grant, kind: kind as GrantKind, balanceAfterMicros, reason } }
  })
  return [...grants, ...afterReturn(state, returned, balanceAfterMicros)]
}
