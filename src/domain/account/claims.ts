import type { AccountEvent, GrantKind } from '../../../schemas/account-events.ts'
import type { PurchaseId } from '../../../schemas/primitives.ts'
import type { Money } from '../../../schemas/purchase-events.ts'
import { decimalsOf, stepOf } from '../currencies.ts'
import { accept, repeat } from '../decider.ts'
import { decimalText } from '../decimal-amounts.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { ReportedDispute, ReportedRefund, RequestRefund } from './commands.ts'
import { afterReturn } from './credits.ts'
import { changeDebt, withdrawn } from './debts.ts'
import { lotOf } from './lots.ts'
import { changePurchase, minorOf } from './purchases.ts'
import type { AccountState, Claim, Purchase } from './state.ts'

// Claims on a payment: refunds and disputes. Each is known by its ID, so a report that is repeated changes nothing, and
// reports may come in any order.

type PaidPurchase = Purchase & { payment: NonNullable<Purchase['payment']> }

/** Withdraws credits that are left of a purchase, whose money the payment service is then asked to return. */
export const requestRefund = (
  { purchaseId, claimId, amount, reason }: RequestRefund,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  if (claimOf(purchase, claimId)) return repeat(claimId)
  const { payment } = purchase
  const { leftMicros } = lotOf(state, payment.lot)
  const mostMinor = worthOf(leftMicros, purchase)
  const most = amountOf(mostMinor, payment.currency)
  const wanted = amount ?? most
  const minor = minorOf({ amount: wanted })
  if (minor <= 0n || minor > mostMinor) return refuse('refund_above_rest', { most, currency: payment.currency })
  const claim = { purchaseId, claimId, amount: wanted, currency: payment.currency, reason }
  return accept(refundRequested(state, purchase, claim))
}

/** The events of a refund that the payment service is then asked for. */
export const refundRequested = (
  state: AccountState,
  purchase: PaidPurchase,
  { reason, ...money }: Money & { purchaseId: PurchaseId; claimId: string; reason: string },
): AccountEvent[] => {
  const claim = claimed(state, purchase, money)
  return [{ type: 'RefundRequested', data: { ...claim, reason } }, ...takings(state, purchase, claim, reason)]
}

/** Records that the payment service has accepted a refund that was requested. */
export const acceptRefund = (
  { purchaseId, claimId, refundId }: { purchaseId: PurchaseId; claimId: string; refundId: string },
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  return claimOf(purchase, claimId)?.status === 'requested'
    ? accept([{ type: 'RefundAccepted', data: { purchaseId, claimId, refundId } }])
    : repeat(claimId)
}

/** Records a refund as the payment service reports it. */
export const recordRefund = (
  { purchaseId, claimId, amount, currency, hasFailed }: Omit<ReportedRefund, 'type'>,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  const known = claimOf(purchase, claimId)
  if (hasFailed) {
    if (known?.status === 'reversed') return repeat(claimId)
    const failed: AccountEvent = { type: 'RefundFailed', data: { purchaseId, claimId } }
    return accept([failed, ...(known ? returns(state, purchase, known, 'the refund failed') : [])])
  }
  if (known) return repeat(claimId)
  const uncovered = uncoveredRefunds(purchase, { amount, currency })
  if (uncovered) return uncovered
  return accept(refunded(state, purchase, { purchaseId, claimId, amount, currency }))
}

const refunded = (
  state: AccountState,
  purchase: PaidPurchase,
  money: Money & { purchaseId: PurchaseId; claimId: string },
): AccountEvent[] => {
  const claim = claimed(state, purchase, money)
  return [{ type: 'PaymentRefunded', data: claim }, ...takings(state, purchase, claim, 'refunded')]
}

/** Records a dispute as the payment service reports it. What is lost stays claimed. */
export const recordDispute = (
  { purchaseId, claimId, amount, currency, status }: Omit<ReportedDispute, 'type'>,
  state: AccountState,
): Decided<AccountEvent> => {
  const purchase = findPaid(state, purchaseId)
  if ('refuse' in purchase) return purchase
  const known = claimOf(purchase, claimId)
  if (status === 'won') {
    if (known?.status === 'reversed') return repeat(claimId)
    const won: AccountEvent = { type: 'DisputeWon', data: { purchaseId, claimId } }
    return accept([won, ...(known ? takenBack(state, purchase, known) : [])])
  }
  // A dispute that was won and is lost on appeal is another claim: the credits of the first have come back.
  const isAppeal = known?.status === 'reversed' && status === 'lost'
  const id = isAppeal ? `${claimId} on appeal` : claimId
  if (claimOf(purchase, id)) return repeat(id)
  const uncovered = uncoveredRefunds(purchase, { amount, currency })
  if (uncovered) return uncovered
  return accept(disputed(state, purchase, { purchaseId, claimId: id, amount, currency }))
}

const disputed = (
  state: AccountState,
  purchase: PaidPurchase,
  money: Money & { purchaseId: PurchaseId; claimId: string },
): AccountEvent[] => {
  const claim = claimed(state, purchase, money)
  const owedMicros = Math.min(claim.creditsMicros - claim.withdrawnMicros, usedOf(state, purchase))
  return [
    { type: 'PaymentDisputed', data: { ...claim, owedMicros } },
    ...takings(state, purchase, claim, 'the payment is disputed'),
    ...owed(state, claim.claimId, owedMicros),
  ]
}

/**
 * Adds what the end of a claim leaves to the others, in its append. Together they may have claimed more than was paid:
 * for example, a refund fails because its payment is disputed. The others then took too little, so a claim without
 * money takes the rest for them. Such claims end once they are no longer needed.
 */
export const withClaimsLeft = (
  decided: Decided<AccountEvent>,
  state: AccountState,
  evolved: (state: AccountState, events: readonly AccountEvent[]) => AccountState,
): Decided<AccountEvent> => {
  const ended = 'accept' in decided ? decided.accept.find(isEnd) : undefined
  if (!('accept' in decided) || !ended) return decided
  const { purchaseId, claimId } = ended.data
  const events = [...decided.accept]
  const left = () => {
    const after = evolved(state, events)
    const purchase = after.purchases.get(purchaseId) as PaidPurchase
    return { after, purchase, missingMicros: missingOf(purchase) }
  }
  for (const claim of standingClaims(left().purchase).filter(isWithoutMoney)) {
    const { after, purchase, missingMicros } = left()
    if (missingMicros >= 0) break
    const end = { purchaseId, claimId: claim.claimId }
    if (claim.kind === 'dispute') events.push({ type: 'DisputeWon', data: end }, ...takenBack(after, purchase, claim))
    else events.push({ type: 'RefundFailed', data: end }, ...returns(after, purchase, claim, 'the refund failed'))
  }
  const { after, purchase, missingMicros } = left()
  // Each share is rounded up.
  if (missingMicros <= purchase.claims.length) return { ...decided, accept: events }
  const { currency } = purchase.payment
  const money = { purchaseId, claimId: `${claimId} passed on`, amount: amountOf(0n, currency), currency }
  if (standingClaims(purchase).some(({ kind }) => kind === 'dispute')) events.push(...disputed(after, purchase, money))
  else events.push(...refunded(after, purchase, money))
  return { ...decided, accept: events }
}

const isEnd = (event: AccountEvent): event is Extract<AccountEvent, { type: 'RefundFailed' | 'DisputeWon' }> =>
  event.type === 'RefundFailed' || event.type === 'DisputeWon'

const isWithoutMoney = (claim: Claim): boolean => minorOf(claim) === 0n

/** What the standing claims of a purchase should have taken, less what they did. */
const missingOf = (purchase: PaidPurchase): number => {
  const { payment, creditsMicros } = purchase
  const minor = claimedMinorOf(purchase)
  const due = minor === 0n ? 0 : Math.min(creditsMicros, ceilShare(creditsMicros, minor, minorOf(payment)))
  return due - takenBy(standingClaims(purchase))
}

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

const claimOf = ({ claims }: Purchase, claimId: string): Claim | undefined =>
  claims.find(claim => claim.claimId === claimId)

/**
 * The credits that a claim takes. Together, claims take what their money has bought, rounded up, and never more than
 * the purchase had.
 */
const claimed = (
  state: AccountState,
  purchase: PaidPurchase,
  claim: Money & { purchaseId: PurchaseId; claimId: string },
): Claimed => {
  const { payment, creditsMicros, bonusMicros = 0 } = purchase
  const standing = standingClaims(purchase)
  const minor = standing.reduce((sum, each) => sum + partOf(payment, each), partOf(payment, claim))
  // Claims that have ended may have left others with a rounded microcredit too much.
  const share = Math.max(
    0,
    Math.min(creditsMicros, ceilShare(creditsMicros, minor, minorOf(payment))) - takenBy(standing),
  )
  const withdrawnMicros = Math.min(share, lotOf(state, payment.lot).leftMicros)
  const bonusShare = ceilShare(bonusMicros, BigInt(share), BigInt(creditsMicros))
  const bonusLeft = payment.bonusLot === undefined ? 0 : lotOf(state, payment.bonusLot).leftMicros
  const bonusWithdrawnMicros = Math.min(bonusShare, bonusLeft)
  return { ...claim, creditsMicros: share, withdrawnMicros, ...(bonusWithdrawnMicros > 0 && { bonusWithdrawnMicros }) }
}

/** The part of a payment that a claim is for. A bank may claim in a currency of its own, and then claims all of it. */
const partOf = (payment: Money, claim: Money): bigint => minorOf(claim.currency === payment.currency ? claim : payment)

const standingClaims = ({ claims }: Purchase): Claim[] => claims.filter(({ status }) => status !== 'reversed')

const takenBy = (claims: readonly Claim[]): number => claims.reduce((sum, claim) => sum + claim.creditsMicros, 0)

/**
 * Refuses a claim beside which the payment does not cover refunds that were requested. The payment service will refuse
 * those, and what they have withdrawn then belongs to the claim.
 */
const uncoveredRefunds = (purchase: PaidPurchase, made: Money) => {
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

/** What was used of the lot of a purchase: neither left, nor expired, nor withdrawn. */
const usedOf = (state: AccountState, purchase: PaidPurchase): number => {
  const { leftMicros, expiredMicros = 0 } = lotOf(state, purchase.payment.lot)
  const withdrawnMicros = standingClaims(purchase).reduce((sum, claim) => sum + claim.withdrawnMicros, 0)
  return Math.max(0, purchase.creditsMicros - leftMicros - expiredMicros - withdrawnMicros)
}

/** What was paid for credits that nobody has used, even if they expired, less what was claimed of it. */
export const unusedWorth = (state: AccountState, purchase: PaidPurchase): Money => {
  const { payment, creditsMicros } = purchase
  const unusedMicros = creditsMicros - usedOf(state, purchase)
  const minor = (BigInt(unusedMicros) * minorOf(payment)) / BigInt(creditsMicros) - claimedMinorOf(purchase)
  return { amount: amountOf(payable(minor, payment), payment.currency), currency: payment.currency }
}

/** The most of an amount, in the smallest units, that the payment service can return. */
const payable = (minor: bigint, { currency }: Money): bigint => (minor > 0n ? minor - (minor % stepOf(currency)) : 0n)

/** The most money, in the smallest units, whose credits are all left. */
const worthOf = (leftMicros: number, purchase: PaidPurchase): bigint => {
  const { payment, creditsMicros } = purchase
  const claimedMinor = claimedMinorOf(purchase)
  const takenMicros = takenBy(standingClaims(purchase))
  const paidMinor = minorOf(payment)
  const reachable = (BigInt(takenMicros + leftMicros) * paidMinor) / BigInt(creditsMicros)
  const most = reachable < paidMinor ? reachable : paidMinor
  return payable(most - claimedMinor, purchase.payment)
}

const claimedMinorOf = (purchase: PaidPurchase): bigint =>
  standingClaims(purchase).reduce((sum, claim) => sum + partOf(purchase.payment, claim), 0n)

/** A number of smallest units as a decimal amount. */
export const amountOf = (minor: bigint, currency: string): string => decimalText(minor, decimalsOf(currency) ?? 2)

/** The withdrawals of a claim, from the lots of its purchase. */
const takings = (
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

const owed = ({ owedMicros: before }: AccountState, claimId: string, amountMicros: number): AccountEvent[] =>
  amountMicros > 0
    ? [{ type: 'CreditsOwed', data: { claimId, amountMicros, owedAfterMicros: before + amountMicros } }]
    : []

/** What a dispute that is won gives back: the debt that is left of it ends, and the rest returns. */
const takenBack = (state: AccountState, purchase: PaidPurchase, claim: Claim): AccountEvent[] => {
  const { claimId, owedMicros: amountMicros } = claim
  const reason = 'the dispute was won'
  if (amountMicros === 0) return returns(state, purchase, claim, reason)
  const settled = { claimId, amountMicros, owedAfterMicros: state.owedMicros - amountMicros }
  const after = changeDebt(state, settled, -1)
  return [{ type: 'CreditsSettled', data: settled }, ...returns(after, purchase, claim, reason)]
}

/** The credits of a reversed claim, back in their lots, with what other credits have paid of its debt. */
const returns = (
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
