/**
 * A service that takes payments on a page of its own, such as Stripe. It may report a payment several times, out of
 * order, late, or never, so its users ask it too. All calls may reject with Unavailable. Their outcome is then unknown,
 * and the same call with the same key can be repeated. They reject with PaymentRefused if the service refuses the
 * request itself, and with PaymentsMisconfigured if it refuses the key.
 */
export interface Payments {
  /** Resolves if the service responds and accepts the key. */
  check(): Promise<void>
  /** Why the service cannot take exactly this amount; undefined if it can. */
  unfit(money: Money): string | undefined
  /** Whether payments are made with play money. */
  readonly isTest: boolean
  /** Whether `charge` is allowed: a merchant of record sells, and tax is computed, on the service's pages only. */
  readonly chargesKeptMethods: boolean
  /**
   * Opens a page for the payment of a purchase. The same purchase gets the same page for at least a day, if it is
   * opened with the same values.
   */
  open(checkout: Checkout): Promise<OpenedCheckout>
  /** The state of a checkout at this moment; undefined if there is none, or if it is not ours. */
  find(sessionId: string): Promise<CheckoutState | undefined>
  /** Pays back a part or all of a payment. The same `refundKey` is one refund for at least a day. */
  refund(refund: RefundRequest): Promise<Refund>
  /** All refunds of a payment, newest first, including those that were made at the service. */
  refundsOf(paymentId: string): Promise<Refund[]>
  /** Undefined also for an inquiry, which takes no money yet. */
  findDispute(disputeId: string): Promise<Dispute | undefined>
  /** Charges a kept payment method while its owner is away. The same `chargeKey` is one charge for at least a day. */
  charge(charge: Charge): Promise<ChargeOutcome>
  /** A charge of this customer that was made with the key, at any time; undefined if there is none. */
  findCharge(customerId: string, chargeKey: string): Promise<ChargeOutcome | undefined>
  /** A payment with its purchase; undefined if the payment is not ours. */
  paymentOf(paymentId: string): Promise<PaymentOf | undefined>
  /**
   * The report in a request. Undefined if it does not concern us: a report of another kind, of another object, or of
   * the other mode (test or live). Rejects with SignatureInvalid unless the service has signed exactly these
   * bytes in the last five minutes, and with ReportUnreadable if something in them is not as it documents.
   */
  read(body: Buffer, signature: string | undefined): Promise<PaymentReport | undefined>
}

export interface Money {
  /** A decimal number without sign, with the decimals of the currency, such as `12.50`. */
  amount: string
  /** ISO 4217, in upper case. */
  currency: string
}

export interface PurchaseOf {
  purchaseId: string
  accountId: string
}

export interface PaymentOf extends PurchaseOf {
  /** The fee that the service keeps, in the currency of its payouts. Undefined while it is unknown. */
  fee: Money | undefined
}

export interface Checkout extends PurchaseOf {
  /** What is bought, such as `500 credits`. */
  name: string
  /** What the customer pays, with the tax. */
  money: Money
  /** The service's code for the kind of goods. */
  taxCode?: string | undefined
  /** The address that the page shows first. */
  email?: string | undefined
  /** May hold `{CHECKOUT_SESSION_ID}`, which the service replaces. */
  successUrl: string
  cancelUrl: string
  /** From 30 minutes to 24 hours from now. */
  expiresAtMs: number
  /** Whether the service keeps the payment method for charges while its owner is away. */
  keepsMethod: boolean
}

export interface OpenedCheckout {
  sessionId: string
  /** The page. Undefined once it is paid or has expired. */
  url: string | undefined
  expiresAtMs: number
}

export interface CheckoutState extends PurchaseOf {
  sessionId: string
  status: 'open' | 'complete' | 'expired'
  /** Undefined while the money has not arrived. A complete checkout may be paid days later. */
  paid: PaidCheckout | undefined
  /** Undefined unless the checkout is open. */
  url: string | undefined
}

/** The facts of a payment. A report contains fewer of them than an answer. */
export interface PaymentFacts {
  /** The payment, or the checkout itself if there was nothing to pay. */
  paymentId: string
  /** What was paid, with the tax. */
  money: Money
  tax: Money
  /** The country of the billing address: ISO 3166-1 alpha-2. */
  country: string | undefined
  address: Address | undefined
  /** The country of the card. Undefined in reports, and for other ways to pay. */
  cardCountry: string | undefined
  /** Whether the customer gave a tax ID. */
  hasTaxId: boolean
  customerId: string | undefined
  invoiceId: string | undefined
}

export interface PaidCheckout extends PaymentFacts {
  invoice: Invoice | undefined
  /** The fee that the service keeps, in the currency of its payouts. Undefined while it is unknown. */
  fee: Money | undefined
  /** The kept payment method; undefined if it was not to be kept. */
  methodId: string | undefined
}

export interface Invoice {
  id: string
  number: string | undefined
  url: string | undefined
  pdfUrl: string | undefined
}

export interface Address {
  name?: string
  line1?: string
  line2?: string
  postalCode?: string
  city?: string
  state?: string
  country?: string
}

export interface RefundRequest extends PurchaseOf {
  refundKey: string
  paymentId: string
  money: Money
}

export interface Refund {
  refundId: string
  paymentId: string
  money: Money
  /** A refund that has succeeded may still fail. */
  status: 'pending' | 'succeeded' | 'failed' | 'cancelled'
  /** The key with which we made it; undefined if it was made at the service. */
  refundKey: string | undefined
}

export interface Dispute {
  disputeId: string
  paymentId: string
  money: Money
  /** Whether the bank holds the money, or who has it in the end. An appeal opens a dispute again. */
  status: 'open' | 'won' | 'lost'
}

export interface Charge extends PurchaseOf {
  chargeKey: string
  customerId: string
  methodId: string
  money: Money
  description: string
}

/** `waiting`: the bank takes days, and a report follows. A bank that must ask its customer declines. */
export type ChargeOutcome =
  | { kind: 'succeeded'; paymentId: string }
  | { kind: 'waiting' }
  | { kind: 'declined'; code: string }

/** Refunds and disputes name only their payment: ask `paymentOf` whether an unknown payment is ours. */
export type PaymentReport =
  | ({ kind: 'checkout_paid'; facts: PaymentFacts } & PurchaseOf)
  | ({ kind: 'checkout_waiting' | 'checkout_failed' | 'checkout_expired' | 'charge_changed' } & PurchaseOf)
  | { kind: 'refund_changed'; refund: Refund }
  | { kind: 'dispute_changed'; dispute: Dispute }

/** The service refuses a request. The code is the service's own; the message is for the operator. */
export class PaymentRefused extends Error {
  override name = 'PaymentRefused'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The service refuses the key. The message names the setting. */
export class PaymentsMisconfigured extends Error {
  override name = 'PaymentsMisconfigured'
}

/** A report is not signed by the service: `missing` or malformed, `old`, or `forged`. */
export class SignatureInvalid extends Error {
  override name = 'SignatureInvalid'
  readonly fault: 'missing' | 'old' | 'forged'

  constructor(fault: 'missing' | 'old' | 'forged') {
    super(`the signature of a report is ${fault}`)
    this.fault = fault
  }
}

/** A signed report lacks something, or has it in another form than the service documents. */
export class ReportUnreadable extends Error {
  override name = 'ReportUnreadable'

  constructor(eventId: string, options: ErrorOptions) {
    super(`the report ${eventId} cannot be read`, options)
  }
}
