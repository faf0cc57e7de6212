import type { CheckoutSessions } from './checkout-sessions.ts'
import { invalid, missing } from './errors.ts'
import type { StubEvent, Tell } from './events.ts'
import { type Parameters, parseForm } from './form.ts'
import { hostedPage, successUrlOf } from './hosted-page.ts'
import { allow, expandOf, textOf } from './parameters.ts'
import { type Card, createIntent } from './payment-intents.ts'
import { createRefund } from './refunds.ts'
import type { Kind, Store } from './store.ts'

export interface RouteDependencies {
  store: Store
  sessions: CheckoutSessions
  tell: Tell
  events: readonly StubEvent[]
  cardOf: (methodId: string) => Card
  refundStatus: () => 'succeeded' | 'pending'
}

/** An object of the API, a page, or another place to go to. */
export type Outcome = { object: object } | { html: string } | { location: string }

export type Routes = (method: string, path: string, query: string, body: string) => Outcome

/** The paths of objects that can only be read: https://docs.stripe.com/api */
const READABLE: Record<string, Kind> = {
  payment_intents: 'payment_intent',
  charges: 'charge',
  balance_transactions: 'balance_transaction',
  refunds: 'refund',
  disputes: 'dispute',
  customers: 'customer',
  payment_methods: 'payment_method',
  invoices: 'invoice',
}

export const routesOf = (dependencies: RouteDependencies): Routes => {
  const { store, sessions, tell, events, cardOf, refundStatus } = dependencies

  const create = (path: string, given: Parameters): object => {
    const [, sessionId] = /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(path) ?? []
    if (sessionId !== undefined) return sessions.expire(sessionId)
    if (path === '/v1/checkout/sessions') return sessions.create(given)
    if (path === '/v1/payment_intents') return createIntent(store, tell, given, cardOf)
    if (path === '/v1/refunds') return createRefund(store, tell, given, refundStatus())
    throw unknown('POST', path)
  }

  const read = (path: string, given: Parameters): object => {
    const [, , collection = '', id, more] = path.split('/')
    if (path === '/v1/refunds') return listOf(store, 'refund', 'payment_intent', given)
    if (path === '/v1/payment_intents') return listOf(store, 'payment_intent', 'customer', given)
    if (path === '/v1/checkout/sessions') return sessions.list(given)
    allow(given, ['expand'])
    if (collection === 'checkout' && id === 'sessions' && more) return sessions.get(more)
    if (collection === 'events' && id) return events.find(event => event.id === id) ?? fail(missing('event', id))
    const kind = READABLE[collection]
    if (kind === undefined || id === undefined || more !== undefined) throw unknown('GET', path)
    return store.get(kind, id)
  }

  const page = (method: string, id: string, body: string): Outcome => {
    const session = sessions.get(id)
    if (method !== 'POST' || session.status !== 'open') return { html: hostedPage(session, sessions.nameOf(id)) }
    const { country = 'DE', tax = '0', card = 'ok', ...who } = Object.fromEntries(new URLSearchParams(body))
    const refusal = sessions.pay(id, { country, tax: Number(tax), card: card as Card, ...who })
    if (refusal) return { html: hostedPage(session, sessions.nameOf(id), refusal.message) }
    return { location: successUrlOf(session) }
  }

  return (method, path, query, body) => {
    const [, pageId] = /^\/c\/pay\/(\w+)$/.exec(path) ?? []
    if (pageId !== undefined) return page(method, pageId, body)
    if (/^\/i\/in_\w+/.test(path))
      return { html: '<!doctype html><html lang="en"><title>Invoice (stub)</title></html>' }
    if (method !== 'GET' && method !== 'POST') throw unknown(method, path)
    const given = parseForm(method === 'GET' ? query : body)
    const object = method === 'GET' ? read(path, given) : create(path, given)
    return { object: store.expanded(object, expandOf(given)) }
  }
}

/** Newest first, in pages: https://docs.stripe.com/api/pagination */
const listOf = (store: Store, kind: 'refund' | 'payment_intent', field: string, given: Parameters) => {
  allow(given, [field, 'limit', 'starting_after', 'expand'])
  const wanted = textOf(given, field)
  const all = store
    .all(kind)
    .filter(object => Object.entries(object).some(([name, id]) => name === field && id === wanted))
  const newestFirst = all.toReversed()
  const from = newestFirst.findIndex(({ id }) => id === textOf(given, 'starting_after')) + 1
  const limit = Number(textOf(given, 'limit') ?? 10)
  const data = newestFirst.slice(from, from + limit)
  return { object: 'list', url: `/v1/${kind}s`, has_more: newestFirst.length > from + limit, data }
}

const unknown = (method: string, path: string) =>
  invalid(`Unrecognized request URL (${method}: ${path}). Please see https://stripe.com/docs.`, {}, 404)

const fail = (error: Error): never => {
  throw error
}
