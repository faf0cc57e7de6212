import type { DomainEvent, Recorded } from '../schemas/recorded.ts'
import type { ViewName, Views } from '../schemas/views.ts'

/** One view as a pure function of the log. */
export interface Projection<Name extends ViewName = ViewName> {
  view: Name
  /** The rows that an event may change. */
  keys(event: Recorded): string[]
  /** A row after an event; `undefined` takes it away. What is returned unchanged is not written. */
  evolve(row: Views[Name] | undefined, event: Recorded, key: string): Views[Name] | undefined
  /** For each index, where a row stands in it; `undefined` leaves it out. No two rows may stand in one place. */
  indexes: { [index: string]: Index<Views[Name]> }
}

/** A row as events tell it one after the other, from what it was before them. */
export const fold = <Name extends ViewName>(
  projection: Projection<Name>,
  events: Recorded[],
  row?: Views[Name],
): Views[Name] | undefined =>
  events.reduce<Views[Name] | undefined>(
    (before, event) => projection.keys(event).reduce((now, key) => projection.evolve(now, event, key), before),
    row,
  )

/** A method's parameters are compared both ways, so a list of projections may forget which view each one makes. */
type Index<Row> = { place(row: Row, key: string): string | undefined }['place']

/** An event of one type, for the helpers of a projection. */
export type RecordedOf<Type extends DomainEvent['type']> = Recorded<Extract<DomainEvent, { type: Type }>>
