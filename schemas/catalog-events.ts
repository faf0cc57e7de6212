import { Type } from 'typebox'
import { Family } from './catalog.ts'
import { PriceList } from './packs.ts'
import { Closed, type EventUnion, Slug } from './primitives.ts'

/** Set if the operator made the change. Later starts of the service leave the family, or the price list, unchanged. */
const byHand = Type.Optional(Type.Literal(true))

export const FamilyPublished = Closed({ family: Family, byHand })
export const FamilyRevised = Closed({ family: Family, byHand })
export const FamilyWithdrawn = Closed({ familyId: Slug, byHand })

/** The whole list each time, so that a purchase is explained by one event. */
export const PacksPublished = Closed({ ...PriceList.properties, byHand })

const familyEvents = { FamilyPublished, FamilyRevised, FamilyWithdrawn }
export type FamilyEvent = EventUnion<typeof familyEvents>

/** All events of the catalog, by type. */
export const catalogEvents = { ...familyEvents, PacksPublished }
export type CatalogEvent = EventUnion<typeof catalogEvents>
