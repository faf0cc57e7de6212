import { Type } from 'typebox'
import { Family } from './catalog.ts'
import { Closed, type EventUnion, Slug } from './primitives.ts'

/** Set if the operator made the change: from then on a start of the service leaves the family as it is. */
const byHand = Type.Optional(Type.Literal(true))

export const FamilyPublished = Closed({ family: Family, byHand })
export const FamilyRevised = Closed({ family: Family, byHand })
export const FamilyWithdrawn = Closed({ familyId: Slug, byHand })

/** Everything that can happen to the catalog, by event type. */
export const catalogEvents = { FamilyPublished, FamilyRevised, FamilyWithdrawn }
export type CatalogEvent = EventUnion<typeof catalogEvents>
