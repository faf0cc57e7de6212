import { createHmac } from 'node:crypto'
import type { Stripe } from 'stripe'
import type { Kind, Objects, Store } from './store.ts'

/** Records that something happened to an object. */
export type Tell = (type: string, object: Objects[Kind]) => void

/** An event, which holds the object as it was: https://docs.stripe.com/api/events/object */
export type StubEvent = Omit<Stripe.EventBase, 'type' | 'data'> & { type: string; data: { object: Objects[Kind] } }

/** The version of the package that the tests drive the stub with. */
export const API_VERSION = '2026-10-28.endive'

export const eventOf = (store: Store, type: string, object: Objects[Kind]): StubEvent => ({
  id: store.id('evt_'),
  object: 'event',
  api_version: API_VERSION,
  created: store.now(),
  data: { object: structuredClone(object) },
  livemode: store.isLive,
  pending_webhooks: 1,
  request: { id: null, idempotency_key: null },
  type,
})

/** The header Stripe-Signature: https://docs.stripe.com/webhooks/signature. `v0` is a scheme that nobody may trust. */
export const signatureOf = (body: string, secrets: readonly string[], atSeconds: number): string => {
  const sign = (secret: string) => createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')
  return [`t=${atSeconds}`, ...secrets.map(secret => `v1=${sign(secret)}`), `v0=${sign('none')}`].join(',')
}
