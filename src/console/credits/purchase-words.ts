import type { ClaimRow, PurchaseRow } from '../../../schemas/views.ts'
import { minorOf } from '../../domain/decimal-amounts.ts'
import { fromMicros } from '../../domain/money.ts'
import { CREDITS_PATH, purchasePath } from '../../services/purchases/pages.ts'
import { withdrawableUntil } from '../../services/purchases/purchase-item.ts'
import { standingClaims } from '../../services/purchases/sales-by-country.ts'

interface Price {
  amount: string
  currency: string
}

/** `12.50 EUR`. */
export const priceOf = ({ amount, currency }: Price): string => `${amount} ${currency}`

/** The page of automatic top-ups, and the form that turns them off. */
export const TOP_UP = `${CREDITS_PATH}/top-up`
export const TOP_UP_OFF = `${TOP_UP}/off`

/** The page that leads to the payment. */
export const payPath = (purchaseId: string): string => `${purchasePath(purchaseId)}/pay`

/** The page on which the owner withdraws from the contract. */
export const withdrawalPath = (purchaseId: string): string => `${purchasePath(purchaseId)}/withdrawal`

/** Whether the owner can withdraw from the contract. */
export const isWithdrawable = (purchase: PurchaseRow, nowMs: number): boolean =>
  nowMs < Date.parse(withdrawableUntil(purchase) ?? '')

/** All credits of a purchase. */
export const creditsIn = ({ creditsMicros, bonusMicros = 0 }: PurchaseRow): number => creditsMicros + bonusMicros

/** The page of credits with the same choice. */
export const buyAgainPath = ({ pack, creditsMicros }: PurchaseRow): string =>
  pack === undefined ? `${CREDITS_PATH}?credits=${fromMicros(creditsMicros)}#buy` : `${CREDITS_PATH}?pack=${pack}#buy`

/** Whether the payment page is still open. */
export const isPayable = ({ status, url, expiresAt = '' }: PurchaseRow, nowMs: number): boolean =>
  status === 'open' && url !== undefined && url !== '' && Date.parse(expiresAt) > nowMs

/** A short word for a list, and its tone. */
export const statusOf = (purchase: PurchaseRow): { word: string; tone: '' | 'good' | 'bad' | 'warn' } => {
  const claims = standingClaims(purchase)
  switch (purchase.status) {
    case 'open':
      return { word: 'Not paid yet', tone: 'warn' }
    case 'expired':
      return { word: 'Expired', tone: '' }
    case 'failed':
      return { word: 'Failed', tone: 'bad' }
    case 'paid':
      if (claims.some(({ kind }) => kind === 'dispute')) return { word: 'Disputed', tone: 'bad' }
      if (purchase.withdrawal) return { word: 'Withdrawn', tone: '' }
      if (claims.length === 0) return { word: 'Paid', tone: 'good' }
      return { word: isAllOf(claims, purchase) ? 'Refunded' : 'Partly refunded', tone: '' }
  }
}

const isAllOf = (claims: readonly ClaimRow[], purchase: PurchaseRow): boolean =>
  claims.reduce((sum, claim) => sum + minorOf(claim), 0n) >= minorOf(purchase)

/** Whether the payment method did not take the money of a withdrawal. The seller owes it, in another way. */
export const isReturnFailed = ({ withdrawal, claims = [] }: PurchaseRow): boolean =>
  claims.some(({ claimId, reversedAt }) => claimId === withdrawal?.claimId && reversedAt !== undefined)

/** What becomes of the money after a withdrawal. */
export const withdrawalWords = (purchase: PurchaseRow): string => {
  const refund = isReturnFailed(purchase)
    ? 'The refund to your payment method failed. Ask the seller to return the money in another way.'
    : 'Your payment for the unused credits is returned.'
  return `You have withdrawn from the contract. ${refund}`
}

/** The state of a refund or dispute. */
export const claimWords = ({ kind, reversedAt }: ClaimRow): string => {
  if (kind === 'refund') return reversedAt === undefined ? 'Credits taken back' : 'Failed, credits are back'
  return reversedAt === undefined ? 'Payment taken back by the bank' : 'Won, credits are back'
}
