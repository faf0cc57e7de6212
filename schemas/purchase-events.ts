import { type Static, Type } from 'typebox'
import {
  Closed,
  CURRENCY,
  MAX_REASON_LENGTH,
  MAX_REFERENCE_LENGTH,
  Micros,
  MONEY_AMOUNT,
  OneOf,
  PositiveMicros,
  PurchaseId,
  Slug,
  Timestamp,
} from './primitives.ts'

/** A decimal amount with the decimals of its currency (ISO 4217), such as 12.50 EUR. */
export const money = {
  amount: Type.String({ pattern: `^${MONEY_AMOUNT}$` }),
  currency: Type.String({ pattern: `^${CURRENCY}$` }),
}
export const Money = Closed(money)
export type Money = Static<typeof Money>

/** An identifier of the payment service. */
const Reference = Type.String({ minLength: 1, maxLength: MAX_REFERENCE_LENGTH })

/**
 * The account wants to buy credits. The event precedes the customer's visit to the page of the payment service, so a
 * payment always has a purchase. The bonus is free credits beside those that are paid for.
 */
export const PurchaseOpened = Closed({
  purchaseId: PurchaseId,
  creditsMicros: PositiveMicros,
  bonusMicros: Type.Optional(PositiveMicros),
  ...money,
  /** The pack of the price list, and the revision of the catalog that it is from; none for a custom amount. */
  pack: Type.Optional(Slug),
  catalogRevision: Type.Integer({ minimum: 0 }),
  /** The credits expire this many days after the payment; never if missing. */
  validDays: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The payment service keeps the payment method, for top-ups. */
  keepsMethod: Type.Optional(Type.Literal(true)),
  /** The service buys by itself, with the payment method that was kept of this purchase. */
  methodOf: Type.Optional(PurchaseId),
  /** The customer may withdraw for so many days after the payment, and has asked to begin before they end. */
  withdrawalDays: Type.Optional(Type.Integer({ minimum: 1 })),
  beginAtOnce: Type.Optional(Type.Literal(true)),
})
export type PurchaseOpened = Static<typeof PurchaseOpened>

/** Stripe's addresses have about a thousand characters. A longer one than this would end all purchases. */
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

/** What else shows where the customer is: the country of the card, and whether a tax ID was given. */
const Evidence = Closed({ cardCountry: Type.Optional(Country), taxId: Type.Optional(Type.Literal(true)) })
export type Evidence = Static<typeof Evidence>

/**
 * The payment has arrived, and its credits follow. `amount` is all that was paid, with the `tax` in it. `country` is
 * that of the invoice address, by ISO 3166-1. The `evidence` is as much as the payment service had told by then.
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

/** What the payment service keeps of a payment, in the currency in which it pays out. It is known later. */
export const FeeCharged = Closed({ purchaseId: PurchaseId, ...money })

/** Nothing was paid: the customer's time is over, or the payment failed. A payment may still arrive. */
export const PurchaseClosed = Closed({ purchaseId: PurchaseId, reason: OneOf('expired', 'failed') })

/**
 * A claim on a payment, for all of it or a part. `claimId` is the payment service's, or that of our request. The
 * `creditsMicros` are what the money had bought. Of these, `withdrawnMicros` were left in the lot, and as many of the
 * bonus as belong to them, as far as they were left, were `bonusWithdrawnMicros`.
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
/** The payment service has accepted the refund that was requested. */
export const RefundAccepted = Closed({ purchaseId: PurchaseId, claimId: Reference, refundId: Reference })
/** Somebody has returned money at the payment service itself. */
export const PaymentRefunded = Closed(claim)
/** The money did not reach the customer, so the credits come back. */
export const RefundFailed = Closed({ purchaseId: PurchaseId, claimId: Reference })

/**
 * The customer withdraws from the contract. `amount` is paid back, by the refund `claimId` that follows in the append;
 * without one, everything was used.
 */
export const WithdrawalDeclared = Closed({ purchaseId: PurchaseId, claimId: Type.Optional(Reference), ...money })

/** The customer's bank takes the money back. What was used of the credits is owed. */
export const PaymentDisputed = Closed({ ...claim, owedMicros: Micros })
/** The bank has decided against its customer, so the credits come back. */
export const DisputeWon = Closed({ purchaseId: PurchaseId, claimId: Reference })

/** Credits that were used and not paid for after all. They are no part of the balance. */
export const CreditsOwed = Closed({ claimId: Reference, amountMicros: PositiveMicros, owedAfterMicros: Micros })
/** Owed credits that a grant has paid, or that a dispute that was won has ended. */
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
