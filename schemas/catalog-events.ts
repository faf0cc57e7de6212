import { Family } from './catalog.ts'
import { Closed, type EventUnion, Slug } from './primitives.ts'

export const FamilyPublished = Closed({ family: Family })
export const FamilyRevised = Closed({ family: Family })
export const FamilyWithdrawn = Closed({ familyId: Slug })

/** Everything that can happen to the catalog, by event type. */
export const catalogEvents = { FamilyPublished, FamilyRevised, FamilyWithdrawn }
export type CatalogEvent = EventUnion<typeof catalogEvents>
