import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import * as api from '../../../schemas/api/purchase.ts'
import { PurchaseId } from '../../../schemas/primitives.ts'
import { refuse } from '../../domain/refusal.ts'
import { invoiceItem } from '../../services/purchases/purchase-item.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { unwrap } from '../../transports/refusals.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const openPurchase = route({
  id: 'openPurchase',
  method: 'post',
  path: '/v1/purchases',
  tag: 'Account',
  summary: 'Buy credits',
  description: [
    'Opens a purchase of a pack, or of a custom amount of credits. Send the customer to `url` to pay. The credits are',
    'there when the purchase is `paid`. Needs a live `full` key or a session. An account can open a few purchases an',
    'hour.',
  ].join(' '),
  auth: 'key or session',
  json: api.NewPurchase,
  examples: { 'A pack': examples.requests.newPurchase },
  responses: {
    200: { description: 'The purchase.', shape: api.Purchase, examples: { Open: examples.openPurchase } },
  },
  errors: ['rate_limited'],
  serve: async (
    ctx,
    { purchases, present },
    { json: { pack, credits, begin_at_once: beginAtOnce, keep_method: keepsMethod, success_url, cancel_url } },
  ) => {
    const { caller } = ctx.state
    if ((pack === undefined) === (credits === undefined)) return unwrap(refuse('purchase_ambiguous'))
    const wanted = pack === undefined ? { credits: credits as number } : { pack }
    const terms = { beginAtOnce, keepsMethod, successUrl: success_url, cancelUrl: cancel_url }
    ctx.body = present.purchase(unwrap(await purchases.open(caller, wanted, terms))) satisfies api.Purchase
  },
})

const listPurchases = route({
  id: 'listPurchases',
  method: 'get',
  path: '/v1/purchases',
  tag: 'Account',
  summary: 'List purchases, newest first',
  description: 'Returns a page of the purchases of the account, with their refunds and disputes.',
  auth: 'key or session',
  query: api.PurchaseQuery,
  responses: {
    200: {
      description: 'A page of purchases.',
      shape: api.PurchaseList,
      examples: { 'Only page': examples.purchaseList },
    },
  },
  serve: async (ctx, { purchases, present }, { query }) => {
    const page = unwrap(await purchases.list(ctx.state.caller, { ...query, limit: limitOf(query) }, waitingClient(ctx)))
    ctx.body = showPage(page, row => present.purchase(row)) satisfies api.PurchaseList
  },
})

/** What the routes of one purchase share. */
const ofPurchase = { tag: 'Account', auth: 'key or session', params: { id: PurchaseId } } as const

const getPurchase = route({
  ...ofPurchase,
  id: 'getPurchase',
  method: 'get',
  path: '/v1/purchases/:id',
  summary: 'Get a purchase',
  description: 'Returns a purchase. The service asks the payment service first if the purchase is open.',
  responses: {
    200: { description: 'The purchase.', shape: api.Purchase, examples: { Paid: examples.paidPurchase } },
  },
  errors: ['not_found'],
  serve: async (ctx, { purchases, present }, { params: { id } }) => {
    ctx.body = present.purchase(unwrap(await purchases.settle(ctx.state.caller, id))) satisfies api.Purchase
  },
})

const withdrawPurchase = route({
  ...ofPurchase,
  id: 'withdrawPurchase',
  method: 'post',
  path: '/v1/purchases/:id/withdrawal',
  summary: 'Withdraw from a purchase',
  description: [
    'Declares that the buyer withdraws from the contract, which they can until `withdrawal_until`. The price of what',
    'they have not used is paid back, and its credits are gone at once. The owner gets a receipt by mail. A repeated',
    'request changes nothing. Needs a live `full` key or a session.',
  ].join(' '),
  responses: {
    200: { description: 'The purchase.', shape: api.Purchase, examples: { Withdrawn: examples.withdrawnPurchase } },
  },
  errors: ['not_found'],
  serve: async (ctx, { withdrawals, present }, { params: { id } }) => {
    ctx.body = present.purchase(unwrap(await withdrawals.declare(ctx.state.caller, id))) satisfies api.Purchase
  },
})

const getInvoice = route({
  ...ofPurchase,
  id: 'getInvoice',
  method: 'get',
  path: '/v1/purchases/:id/invoice',
  summary: 'Get the invoice of a purchase',
  description: [
    'Asks the payment service for the addresses of the invoice. Anyone who has them can read the invoice, and they end',
    'after a while. Needs a live `full` key or a session.',
  ].join(' '),
  responses: {
    200: { description: 'The invoice.', shape: api.Invoice, examples: { Invoice: examples.invoice } },
  },
  errors: ['not_found', 'rate_limited'],
  serve: async (ctx, { purchases }, { params: { id } }) => {
    ctx.body = invoiceItem(unwrap(await purchases.invoice(ctx.state.caller, id))) satisfies api.Invoice
  },
})

export const purchaseRoutes = [openPurchase, listPurchases, getPurchase, withdrawPurchase, getInvoice]
