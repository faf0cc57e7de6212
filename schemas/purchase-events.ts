import { type Static, Type } from 'typebox'
import {
  Closed,
  Currency,
  MAX_REASON_LENGTH,
  MAX_REFERENCE_LENGTH,
  Micros,
  MoneyAmount,
  OneOf,
  PositiveMicros,
  PurchaseId,
  Slug,
  Timestamp,
} from './primitives.ts'

/** A decimal amount with the decimals of its currency (ISO 4217), such as 12.50 EUR. */
export const money = {
  amount: MoneyAmount,
  currency: Currency,
}
export const Money = Closed(money)
export type Money = Static<typeof Money>

/** An identifier of the payment service. */
const Reference = Type.String({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH })

/**
 * The account wants to buy credits. The event precedes the customer's visit to the page of the payment service, so
 * every payment has a purchase. The bonus is free credits on top of the paid ones.
 */
export const PurchaseOpened = Closed({
  purchaseId: PurchaseId,
  creditsMicros: PositiveMicros,
  bonusMicros: Type.Optional(PositiveMicros),
  ...money,
  /** The ID of the pack; missing for a custom amount. */
  pack: Type.Optional(Slug),
  /** The revision of the catalog that has the price. */
  catalogRevision: Type.Integer({ minimum: 0 }),
  /** The credits expire this many days after the payment; never if missing. */
  validDays: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The payment service keeps the payment method, for top-ups. */
  keepsMethod: Type.Optional(Type.Literal(true)),
  /** For top-ups: the purchase whose payment method was kept. */
  methodOf: Type.Optional(PurchaseId),
  /** The customer may withdraw for this many days after the payment, and has asked to begin before they end. */
  withdrawalDays: Type.Optional(Type.Integer({ minimum: 1 })),
  beginAtOnce: Type.Optional(Type.Literal(true)),
})
export type PurchaseOpened = Static<typeof PurchaseOpened>

/** Stripe's addresses have about a thousand characters. If they exceeded this, all purchases would fail. */
const MAX_CHECKOUT_URL_LENGTH = 10_000

/** The payment service has a page for the payment, until `expiresAt`. */
export const CheckoutOpened = Closed({
  purchaseId: PurchaseId,
  checkoutId: Reference,
  url: Type.Optional(Type.String({ maxLength: MAX_CHECKOUT_URL_LENGTH })),
  expiresAt: Timestamp,
})

const Country = Type.String({ pattern: '^[A-Z]{2}$' })

/** The longest line of an address that is recorded. */
export const MAX_ADDRESS_LINE_LENGTH = 500

/** A postal address, with the parts that the customer gave. */
const Address = Type.Record(Type.String({ maxLength: 32 }), Type.String({ maxLength: MAX_ADDRESS_LINE_LENGTH }), {
  maxProperties: 10,
})

/** Further evidence of the customer's country. `taxId` says whether the customer gave a tax ID. */
const Evidence = Closed({ cardCountry: Type.Optional(Country), taxId: Type.Optional(Type.Literal(true)) })
export type Evidence = Static<typeof Evidence>

/**
 * The payment has arrived, and its credits follow. `amount` includes the `tax`. `country` is the country of the invoice
 * address, by ISO 3166-1. `evidence` has what the payment service had reported by then.
 */
export const PurchasePaid = Closed({
  purchaseId: PurchaseId,
  paymentId: Reference,
  ...money,
  tax: Type.Optional(money.amount),
  country: Type.Optional(Country),
  address: Type.Optional(Address),
  evidence: Type.Optional(Evidence),
  customer: Type.Optional(Reference),
  invoice: Type.Optional(Reference),
})
export type PurchasePaid = Static<typeof PurchasePaid>

/** The fee that the payment service keeps of a payment, in the currency of its payouts. It is known only later. */
export const FeeCharged = Closed({ purchaseId: PurchaseId, ...money })

/** Nothing was paid in time, or the payment failed. A payment may still arrive. */
export const PurchaseClosed = Closed({ purchaseId: PurchaseId, reason: OneOf('expired', 'failed') })

/**
 * A claim on a payment or a part of it. `claimId` is from the payment service, or from our request. `creditsMicros` are
 * the credits that the money had bought. Of these, `withdrawnMicros` were left in the lot. `bonusWithdrawnMicros` are
 * their share of the bonus, if it was left.
 */
const claim = {
  purchaseId: PurchaseId,
  claimId: Reference,
  ...money,
  creditsMicros: Micros,
  withdrawnMicros: Micros,
  bonusWithdrawnMicros: Type.Optional(PositiveMicros),
}

/**
 * The operator wants to return money, or the customer has withdrawn. The credits are withdrawn in the same append, so
 * that they cannot be used meanwhile. The payment service then gets `claimId` as the key of the refund.
 */
export const RefundRequested = Closed({ ...claim, reason: Type.String({ minLength: 1, maxLength: MAX_REASON_LENGTH }) })
/** The payment service has accepted a requested refund. */
export const RefundAccepted = Closed({ purchaseId: PurchaseId, claimId: Reference, refundId: Reference })
/** The payment was refunded at the payment service itself. */
export const PaymentRefunded = Closed(claim)
/** The money did not reach the customer, so the credits come back. */
export const RefundFailed = Closed({ purchaseId: PurchaseId, claimId: Reference })

/**
 * The customer withdraws from the contract. The refund `claimId` of the `amount` follows in the append; without one,
 * there is nothing to refund.
 */
export const WithdrawalDeclared = Closed({ purchaseId: PurchaseId, claimId: Type.Optional(Reference), ...money })

/** The customer's bank takes the money back. The account owes the credits that were used. */
export const PaymentDisputed = Closed({ ...claim, owedMicros: Micros })
/** The bank has decided against its customer, so the credits come back. */
export const DisputeWon = Closed({ purchaseId: PurchaseId, claimId: Reference })

/** Used credits of a disputed payment. They are not part of the balance. */
export const CreditsOwed = Closed({ claimId: Reference, amountMicros: PositiveMicros, owedAfterMicros: Micros })
/** Owed credits that other credits have paid, or that ended with a won dispute. */
export const CreditsSettled = Closed({ claimId: Reference, amountMicros: PositiveMicros, owedAfterMicros: Micros })

export const purchaseEvents = {
  PurchaseOpened,
  CheckoutOpened,
  PurchasePaid,
  FeeCharged,
  PurchaseClosed,
  RefundRequested,
  RefundAccepted,
  PaymentRefunded,
  RefundFailed,
  WithdrawalDeclared,
  PaymentDisputed,
  DisputeWon,
  CreditsOwed,
  CreditsSettled,
}
