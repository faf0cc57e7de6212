import { type Static, Type } from 'typebox'
import { Upstream } from './account-events.ts'
import { Closed, type EventUnion, MAX_REASON_LENGTH, Slug } from './primitives.ts'

/** More bindings than any endpoint has. */
const MAX_ORDERED = 100

const reason = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REASON_LENGTH }))

/** An operator has turned a provider off: it gets no more jobs. Those that it has accepted go on. */
export const ProviderDisabled = Closed({ provider: Slug, reason })
export const ProviderEnabled = Closed({ provider: Slug, reason })

/** A binding of an endpoint, by the provider's id of its model. */
export const BindingName = Closed({ provider: Slug, model: Upstream.properties.model })
export type BindingName = Static<typeof BindingName>

export const BindingDisabled = Closed({ endpoint: Slug, ...BindingName.properties })
export const BindingEnabled = Closed({ endpoint: Slug, ...BindingName.properties })

/** These bindings of the endpoint are tried first, in this order. An empty list restores the order that ships. */
export const BindingsOrdered = Closed({ endpoint: Slug, bindings: Type.Array(BindingName, { maxItems: MAX_ORDERED }) })

/** An operator says that something works again, such as an account after a check: its wait ends in every process. */
export const ProviderWaitEnded = Closed({
  provider: Slug,
  /** Every account and every model, if absent. */
  account: Upstream.properties.account,
  model: Type.Optional(Upstream.properties.model),
})
export type ProviderWaitEnded = Static<typeof ProviderWaitEnded>

/** Everything that can happen in the stream of an operator's choices among providers, by event type. */
export const providerEvents = {
  ProviderDisabled,
  ProviderEnabled,
  BindingDisabled,
  BindingEnabled,
  BindingsOrdered,
  ProviderWaitEnded,
}
export type ProviderEvent = EventUnion<typeof providerEvents>
