import type { Stripe } from 'stripe'
import type { Payer } from './charges.ts'
import { addCustomer, addInvoice, addMethod } from './customers.ts'
import { invalid } from './errors.ts'
import type { Tell } from './events.ts'
import type { Parameters } from './form.ts'
import { type Hidden, newSession } from './new-session.ts'
import { allow, textOf } from './parameters.ts'
import { addIntent, attempt, type Card, finish } from './payment-intents.ts'
import type { Store } from './store.ts'

export interface Buyer {
  country?: string
  /** In the smallest unit. Part of the price if its `tax_behavior` is `inclusive`, and added otherwise. */
  tax?: number
  card?: Card
  email?: string
  name?: string
  /** A VAT number of the EU. */
  taxId?: string
}

/** The sessions of Checkout, with their page. */
export class CheckoutSessions {
  readonly #store: Store
  readonly #tell: Tell
  readonly #baseUrl: () => string
  readonly #hidden = new Map<string, Hidden>()

  constructor(store: Store, tell: Tell, baseUrl: () => string) {
    this.#store = store
    this.#tell = tell
    this.#baseUrl = baseUrl
  }

  create(given: Parameters): Stripe.Checkout.Session {
    const { session, hidden } = newSession(this.#store, given, this.#baseUrl())
    this.#hidden.set(session.id, hidden)
    return this.#store.add(session)
  }

  /** The session as it is now: an open one expires by itself. */
  get(id: string): Stripe.Checkout.Session {
    const session = this.#store.get('checkout.session', id)
    if (session.status === 'open' && session.expires_at <= this.#store.now()) this.#end(session)
    return session
  }

  /** https://docs.stripe.com/api/checkout/sessions/list, the newest of them */
  list(given: Parameters) {
    allow(given, ['limit'])
    const all = this.#store.all('checkout.session').toReversed()
    const limit = Number(textOf(given, 'limit') ?? 10)
    return { object: 'list', url: '/v1/checkout/sessions', has_more: all.length > limit, data: all.slice(0, limit) }
  }

  /** https://docs.stripe.com/api/checkout/sessions/expire */
  expire(id: string): Stripe.Checkout.Session {
    const session = this.get(id)
    if (session.status !== 'open')
      throw invalid(`Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`)
    this.#end(session)
    return session
  }

  nameOf = (id: string): string => this.#hidden.get(id)?.name ?? ''

  /** Somebody fills in the page and pays. Returns the bank's refusal, if any: the page stays open then. */
  pay(id: string, { country = 'DE', tax = 0, card = 'ok', name = 'Ada Lovelace', ...buyer }: Buyer = {}) {
    const session = this.get(id)
    const hidden = this.#hidden.get(id) as Hidden
    if (session.status !== 'open') throw invalid(`The Checkout Session is ${session.status}.`)
    const email = buyer.email ?? session.customer_email ?? 'ada@example.com'
    const place = {
      line1: 'Invalidenstraße 1',
      line2: null,
      postal_code: '10115',
      city: 'Berlin',
      state: null,
      country,
    }
    const payer = { name, email, address: place }
    if (!hidden.isInclusive) session.amount_total = (session.amount_subtotal ?? 0) + tax
    const refusal = session.amount_total === 0 ? undefined : this.#charge(session, hidden, payer, card)
    if (refusal) return refusal
    Object.assign(session, {
      ...{ status: 'complete', url: null },
      total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: tax },
      customer_details: {
        ...{ ...payer, phone: null, business_name: null, individual_name: name, tax_exempt: 'none' },
        tax_ids:
          buyer.taxId === undefined || !session.tax_id_collection?.enabled
            ? []
            : [{ type: 'eu_vat', value: buyer.taxId }],
      },
    } satisfies Partial<Stripe.Checkout.Session>)
    if (card === 'async') this.#tell('checkout.session.completed', session)
    else this.#complete(session, 'checkout.session.completed')
    return undefined
  }

  /** The end of a payment that takes days: https://docs.stripe.com/payments/checkout/fulfill-orders#delayed-notification */
  settleAsync(id: string, arrives: boolean) {
    const session = this.get(id)
    const intent = this.#store.get('payment_intent', session.payment_intent as string)
    finish(this.#store, this.#tell, intent, arrives)
    if (arrives) this.#complete(session, 'checkout.session.async_payment_succeeded')
    else this.#tell('checkout.session.async_payment_failed', session)
  }

  #charge(session: Stripe.Checkout.Session, hidden: Hidden, payer: Payer, card: Card) {
    const store = this.#store
    // Sessions with an invoice need a customer.
    if (!session.customer && (session.invoice_creation?.enabled || session.customer_creation === 'always'))
      session.customer = addCustomer(store, payer).id
    const method = addMethod(store, payer)
    const intent = session.payment_intent
      ? store.get('payment_intent', session.payment_intent as string)
      : addIntent(store, {
          ...{ amount: session.amount_total ?? 0, currency: session.currency ?? '', metadata: hidden.intentMetadata },
          ...{ customer: session.customer, payment_method: method.id, managed_payments: session.managed_payments },
          setup_future_usage: hidden.keepsMethod ? 'off_session' : null,
        })
    Object.assign(intent, { amount: session.amount_total, payment_method: method.id })
    session.payment_intent = intent.id
    const refusal = attempt(store, this.#tell, intent, payer, card)
    if (!refusal && hidden.keepsMethod) method.customer = session.customer as string
    return refusal
  }

  #complete(session: Stripe.Checkout.Session, type: string) {
    if (session.payment_status === 'unpaid') session.payment_status = 'paid'
    if (session.invoice_creation?.enabled) {
      const invoice = addInvoice(this.#store, session, this.#baseUrl())
      session.invoice = invoice.id
      this.#tell('invoice.paid', invoice)
    }
    this.#tell(type, session)
  }

  #end(session: Stripe.Checkout.Session) {
    Object.assign(session, { status: 'expired', url: null })
    this.#tell('checkout.session.expired', session)
  }
}
