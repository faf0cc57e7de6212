import { Type } from 'typebox'
import { Family } from './catalog.ts'
import { Closed, type EventUnion, Slug } from './primitives.ts'

/** Set when the operator did it by hand: from then on the family is left as it is when the service starts. */
const byHand = Type.Optional(Type.Literal(true))

export const FamilyPublished = Closed({ family: Family, byHand })
export const FamilyRevised = Closed({ family: Family, byHand })
export const FamilyWithdrawn = Closed({ familyId: Slug, byHand })

/** Everything that can happen to the catalog, by event type. */
export const catalogEvents = { FamilyPublished, FamilyRevised, FamilyWithdrawn }
export type CatalogEvent = EventUnion<typeof catalogEvents>
