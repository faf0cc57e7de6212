import { Type } from 'typebox'
import { Family } from './catalog.ts'
import { Closed, type EventUnion, Slug } from './primitives.ts'

/** Set if the operator made the change. Later starts of the service leave the family unchanged. */
const byHand = Type.Optional(Type.Literal(true))

export const FamilyPublished = Closed({ family: Family, byHand })
export const FamilyRevised = Closed({ family: Family, byHand })
export const FamilyWithdrawn = Closed({ familyId: Slug, byHand })

/** All events of the catalog, by type. */
export const catalogEvents = { FamilyPublished, FamilyRevised, FamilyWithdrawn }
export type CatalogEvent = EventUnion<typeof catalogEvents>
