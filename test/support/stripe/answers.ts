import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { apiError, invalid, rateLimit, StripeFault } from './errors.ts'
import { API_VERSION } from './events.ts'
import type { IdempotencyKeys } from './idempotency.ts'
import type { Routes } from './routes.ts'
import type { Store } from './store.ts'

export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  query: string
  /** As it was sent. */
  body: string
}

/**
 * `down`: no answer to anything. `hang`: an answer never comes. `lost`: the request is done, and its answer gets lost.
 * `error`: a fault at Stripe. `busy`: too many requests. A number: milliseconds until the request is done.
 */
export type Fault = 'down' | 'hang' | 'lost' | 'error' | 'busy' | number | { status: number; body: object }

interface Dependencies {
  routes: Routes
  fault: Fault | undefined
  keys: ReadonlySet<string>
  kept: IdempotencyKeys
  store: Store
}

/** Answers a request to the API or to a page. */
export const respond = async (
  received: Received,
  response: ServerResponse,
  { routes, fault, keys, kept, store }: Dependencies,
) => {
  if (fault === 'down') return response.destroy()
  if (fault === 'hang') return
  if (typeof fault === 'number') {
    const timer = setTimeout(() => response.emit('waited'), fault)
    await Promise.race([once(response, 'waited'), once(response, 'close')])
    clearTimeout(timer)
  }
  const { method, path, headers, query, body } = received
  const key = headers['idempotency-key'] as string | undefined
  const described: Record<string, string> = {
    'Request-Id': store.id('req_'),
    // https://docs.stripe.com/api/versioning
    'Stripe-Version': String(headers['stripe-version'] ?? API_VERSION),
    ...(key !== undefined && { 'Idempotency-Key': key }),
  }
  const send = (status: number, object: unknown) => {
    if (fault === 'lost') return response.destroy()
    response.writeHead(status, { 'Content-Type': 'application/json', ...described }).end(JSON.stringify(object))
  }
  try {
    if (typeof fault === 'object') return send(fault.status, fault.body)
    if (fault === 'error') throw apiError()
    if (fault === 'busy') throw rateLimit()
    if (path.startsWith('/v1/')) authenticate(headers, keys)
    const saved = key === undefined || method !== 'POST' ? undefined : kept.find(key, path, body)
    if (saved) {
      described['Idempotent-Replayed'] = 'true'
      return send(saved.status, saved.body)
    }
    const outcome = routes(method, path, query, body)
    if ('html' in outcome) return response.setHeader('Content-Type', 'text/html; charset=utf-8').end(outcome.html)
    if ('location' in outcome) return response.writeHead(303, { Location: outcome.location }).end()
    if (key !== undefined && method === 'POST') kept.keep(key, path, body, { status: 200, body: outcome.object })
    send(200, outcome.object)
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    if (key !== undefined && method === 'POST' && fault === undefined)
      kept.keep(key, path, body, { status: error.status, body: error.body })
    send(error.status, error.body)
  }
}

/** https://docs.stripe.com/api/authentication */
const authenticate = ({ authorization = '' }: IncomingHttpHeaders, keys: ReadonlySet<string>) => {
  const key = authorization.replace(/^Bearer /, '')
  if (!keys.has(key)) throw invalid(`Invalid API Key provided: ${key.slice(0, 8)}****${key.slice(-4)}`, {}, 401)
}
