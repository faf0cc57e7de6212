import { type Static, Type } from 'typebox'
import { Closed, OneOf, PurchaseId, Slug, Timestamp, Url } from '../primitives.ts'
import { PURCHASE_STATUSES } from '../views.ts'
import { about } from './about.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'
import { Pack } from './packs.ts'

const { credits, bonus_credits, amount, currency } = Pack.properties

const Page = (description: string) => Type.Optional(about(Url, description, 'https://app.example.com/credits'))

const returnUrls = {
  success_url: Page('Where the customer goes after the payment. By default, a page of this service.'),
  cancel_url: Page('Where the customer goes without a payment. By default, a page of this service.'),
}

/** A request to buy a pack, or a custom amount of credits. */
export const NewPurchase = Closed({
  pack: Type.Optional(about(Slug, 'The ID of a pack.', 'starter')),
  credits: Type.Optional(
    about(Type.Number({ exclusiveMinimum: 0 }), 'An amount within the bounds of `GET /v1/packs`.', 500),
  ),
  keep_method: Type.Optional(
    about(
      Type.Boolean(),
      'Whether the payment service keeps the payment method, for automatic top-ups; see `PUT /v1/top_up`.',
      true,
    ),
  ),
  begin_at_once: Type.Optional(
    about(
      Type.Boolean(),
      [
        'The buyer asks for the credits at once, and pays for those used before a withdrawal from the contract.',
        'Must be true unless the service sells only to businesses.',
      ].join(' '),
      true,
    ),
  ),
  ...returnUrls,
})
export type NewPurchase = Static<typeof NewPurchase>

const Claim = Closed({
  kind: about(OneOf('refund', 'dispute'), 'Whether the seller returned money, or the bank of the customer took it.'),
  id: about(Type.String(), 'The ID of the refund or dispute.', 're_3MmlLrLkdIwHu7ix0snN0B15'),
  amount,
  currency,
  created_at: Timestamp,
  reversed_at: Type.Optional(about(Timestamp, 'When the refund failed, or the dispute was won.')),
})

export const Purchase = Closed({
  object: Type.Literal('purchase'),
  id: PurchaseId,
  status: about(OneOf(...PURCHASE_STATUSES), 'The credits are there once it is `paid`.'),
  url: Type.Optional(
    about(Url, 'The page where the purchase is paid, while it is open.', 'https://checkout.stripe.com/c/pay/cs_1'),
  ),
  expires_at: Type.Optional(about(Timestamp, 'When that page closes.')),
  pack: Type.Optional(about(Slug, 'The pack; missing for a custom amount.', 'starter')),
  top_up: Type.Optional(
    about(Type.Literal(true), 'Set if the service bought the credits by itself; see `PUT /v1/top_up`.'),
  ),
  credits,
  bonus_credits: Type.Optional(bonus_credits),
  amount: about(amount, 'The price and, once it is paid, what was paid with its tax.', '12.50'),
  currency,
  tax: Type.Optional(about(amount, 'The tax in what was paid.', '2.00')),
  country: Type.Optional(
    about(Type.String({ pattern: '^[A-Z]{2}$' }), 'The country of the invoice address, by ISO 3166-1.', 'DE'),
  ),
  invoice: Type.Optional(about(Type.String(), 'The ID of the invoice.', 'in_1MtHbELkdIwHu7ixl4OzzPMv')),
  invoice_url: Type.Optional(
    about(
      Url,
      'Leads the owner of the account to the invoice, in a browser. Programs ask for `/v1/purchases/{id}/invoice`.',
      'https://api.example.com/console/credits/purchases/pur_01m820ba0efvgrrk8fytq86g1b/invoice',
    ),
  ),
  created_at: Timestamp,
  paid_at: Type.Optional(Timestamp),
  withdrawal_until: Type.Optional(about(Timestamp, 'Until when the buyer may withdraw from the contract.')),
  withdrawal: Type.Optional(
    about(
      Closed({ declared_at: Timestamp, amount, currency }),
      'When the buyer withdrew from the contract, and what is paid back: the price of what was not used.',
    ),
  ),
  claims: Type.Optional(about(Type.Array(Claim), 'Refunds and disputes, the oldest first.')),
})
export type Purchase = Static<typeof Purchase>

/** An invoice at the payment service. */
export const Invoice = Closed({
  object: Type.Literal('invoice'),
  id: about(Type.String(), 'The ID of the invoice.', 'in_1MtHbELkdIwHu7ixl4OzzPMv'),
  number: Type.Optional(about(Type.String(), 'The number that is on the invoice.', '3F2A9C1B-0001')),
  url: about(Url, 'The page of the invoice.', 'https://invoice.stripe.com/i/acct_1/live_1'),
  pdf_url: Type.Optional(about(Url, 'The invoice as a PDF.', 'https://pay.stripe.com/invoice/acct_1/live_1/pdf')),
})
export type Invoice = Static<typeof Invoice>

const PurchaseCursor = PurchaseId

export const PurchaseQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(PurchaseCursor)),
})

export const PurchaseList = ListOf(Purchase, PurchaseCursor)
export type PurchaseList = Static<typeof PurchaseList>
