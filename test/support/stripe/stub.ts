import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Stripe } from 'stripe'
import type { Test } from 'tap'
import { type Fault, type Received, respond } from './answers.ts'
import { type Buyer, CheckoutSessions } from './checkout-sessions.ts'
import { closeDispute, escalate, openDispute } from './disputes.ts'
import { eventOf, type StubEvent } from './events.ts'
import { IdempotencyKeys } from './idempotency.ts'
import { type Card, finish } from './payment-intents.ts'
import { createRefund, failRefund, succeedRefund } from './refunds.ts'
import { type Routes, routesOf } from './routes.ts'
import { type Kind, type Objects, Store } from './store.ts'
import { WebhookSender } from './webhook-sender.ts'

export const STRIPE_KEY = 'sk_test_stub0123456789'
export const STRIPE_LIVE_KEY = 'sk_live_stub0123456789'
export const WEBHOOK_SECRET = 'whsec_stub0123456789abcdef'

interface StubOptions {
  /** Whether it is an account's live mode instead of its test mode. */
  isLive?: boolean
}

/**
 * An account at Stripe, as its published API describes it, with the hosted page of Checkout and webhooks. Time is the
 * system's. Only what Tollgate uses exists: anything else is refused, so that a test notices it.
 */
export class StripeStub {
  /** The requests to the API, oldest first. */
  readonly requests: Received[] = []
  readonly events: StubEvent[] = []
  readonly keys: Set<string>
  readonly idempotencyKeys = new IdempotencyKeys()
  readonly store: Store
  /** What the next requests meet, and how many of them. */
  fault: Fault | undefined
  faults = Number.POSITIVE_INFINITY
  /** The endpoint whose requests meet it, such as `POST /v1/refunds`; all of them if it is empty. */
  faultRoute = ''
  /** Whether refunds take days. */
  refundsWait = false
  webhooks: WebhookSender | undefined
  readonly #sessions: CheckoutSessions
  readonly #cards = new Map<string, Card>()
  readonly #routes: Routes
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy())
  })

  constructor({ isLive = false }: StubOptions = {}) {
    this.store = new Store(isLive)
    this.keys = new Set([isLive ? STRIPE_LIVE_KEY : STRIPE_KEY])
    this.#sessions = new CheckoutSessions(this.store, this.#tell, () => this.url)
    this.#routes = routesOf({
      store: this.store,
      sessions: this.#sessions,
      tell: this.#tell,
      events: this.events,
      cardOf: methodId => this.#cards.get(methodId) ?? 'ok',
      refundStatus: this.#refundStatus,
    })
  }

  async listen(port = 0): Promise<string> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return this.url
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close() {
    this.webhooks?.close()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Sends events to an endpoint from now on. */
  sendTo(url: string, ...secrets: string[]): WebhookSender {
    this.webhooks = new WebhookSender(url, ...(secrets.length > 0 ? secrets : [WEBHOOK_SECRET]))
    return this.webhooks
  }

  /** Misbehaves with each request, or with the next ones. */
  fail(fault: Fault, times = Number.POSITIVE_INFINITY, route = '') {
    this.fault = fault
    this.faults = times
    this.faultRoute = route
  }

  recover() {
    this.fault = undefined
  }

  /** Requests to one endpoint, such as `POST /v1/refunds`. */
  requestsTo(route: string): Received[] {
    return this.requests.filter(({ method, path }) => `${method} ${path}`.startsWith(route))
  }

  eventsOf(...types: string[]): StubEvent[] {
    return this.events.filter(({ type }) => types.includes(type))
  }

  session = (id: string): Stripe.Checkout.Session => this.#sessions.get(id)

  /** Somebody pays on the hosted page. */
  pay = (sessionId: string, buyer?: Buyer) => this.#sessions.pay(sessionId, buyer)

  settleAsync = (sessionId: string, arrives = true) => this.#sessions.settleAsync(sessionId, arrives)

  expire = (sessionId: string) => this.#sessions.expire(sessionId)

  /** What a bank does with a kept method from now on. */
  setCard = (methodId: string, card: Card) => this.#cards.set(methodId, card)

  /** The end of a charge of a kept method that takes days. */
  settleCharge = (paymentId: string, arrives = true) =>
    finish(this.store, this.#tell, this.store.get('payment_intent', paymentId), arrives)

  /** The operator refunds a payment at Stripe's dashboard; the whole rest without an amount. */
  refund = (paymentId: string, amount?: number): Stripe.Refund => {
    const given = { payment_intent: paymentId, ...(amount !== undefined && { amount: String(amount) }) }
    return createRefund(this.store, this.#tell, given, this.#refundStatus())
  }

  succeedRefund = (refundId: string) => succeedRefund(this.store, this.#tell, refundId)

  failRefund = (refundId: string) => failRefund(this.store, this.#tell, refundId)

  dispute = (paymentId: string, options: { amount?: number; isInquiry?: boolean } = {}): Stripe.Dispute =>
    openDispute(this.store, this.#tell, paymentId, options)

  escalate = (disputeId: string) => escalate(this.store, this.#tell, disputeId)

  closeDispute = (disputeId: string, status: 'won' | 'lost' | 'warning_closed') =>
    closeDispute(this.store, this.#tell, disputeId, status)

  readonly #refundStatus = () => (this.refundsWait ? 'pending' : 'succeeded')

  readonly #tell = (type: string, object: Objects[Kind]) => {
    const event = eventOf(this.store, type, object)
    this.events.push(event)
    this.webhooks?.push(event)
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '', headers } = request
    const { pathname, search } = new URL(url, this.url)
    const received = { method, path: pathname, headers, query: search.slice(1), body: await text(request) }
    if (pathname.startsWith('/v1/')) this.requests.push(received)
    const meetsFault = pathname.startsWith('/v1/') && `${method} ${pathname}`.startsWith(this.faultRoute)
    const fault = meetsFault && this.faults > 0 ? this.fault : undefined
    if (fault) this.faults -= 1
    await respond(received, response, {
      routes: this.#routes,
      fault,
      keys: this.keys,
      kept: this.idempotencyKeys,
      store: this.store,
    })
  }
}

/** A stub in this process, until the test ends. */
export const startStripe = async (t: Test, options?: StubOptions): Promise<StripeStub> => {
  const stub = new StripeStub(options)
  await stub.listen()
  t.teardown(() => stub.close())
  return stub
}
