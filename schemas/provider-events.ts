import { type Static, Type } from 'typebox'
import { Upstream } from './account-events.ts'
import { Closed, type EventUnion, MAX_REASON_LENGTH, Slug } from './primitives.ts'

/** More bindings than any endpoint has. */
const MAX_ORDERED = 100

const reason = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REASON_LENGTH }))

/** An operator turned a provider off. It gets no more jobs, but continues accepted jobs. */
export const ProviderDisabled = Closed({ provider: Slug, reason })
export const ProviderEnabled = Closed({ provider: Slug, reason })

/** A binding of an endpoint, named by provider and model. */
export const BindingName = Closed({ provider: Slug, model: Upstream.properties.model })
export type BindingName = Static<typeof BindingName>

export const BindingDisabled = Closed({ endpoint: Slug, ...BindingName.properties })
export const BindingEnabled = Closed({ endpoint: Slug, ...BindingName.properties })

/** These bindings of the endpoint are tried first, in this order. An empty list restores the shipped order. */
export const BindingsOrdered = Closed({ endpoint: Slug, bindings: Type.Array(BindingName, { maxItems: MAX_ORDERED }) })

/**
 * An operator says that a provider works again, for example after a check. Its circuit breakers close in every process.
 */
export const ProviderWaitEnded = Closed({
  provider: Slug,
  /** All accounts and all models, if absent. */
  account: Upstream.properties.account,
  model: Type.Optional(Upstream.properties.model),
})
export type ProviderWaitEnded = Static<typeof ProviderWaitEnded>

/** All events of the stream of operators' choices among providers, by type. */
export const providerEvents = {
  ProviderDisabled,
  ProviderEnabled,
  BindingDisabled,
  BindingEnabled,
  BindingsOrdered,
  ProviderWaitEnded,
}
export type ProviderEvent = EventUnion<typeof providerEvents>
