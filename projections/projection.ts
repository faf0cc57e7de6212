import type { Recorded } from '../schemas/recorded.ts'

/** One view, or the rows of some keys of a view, as a pure function of the log. */
export interface Projection<Row extends object = object, Type extends string = string> {
  /** Names the projection among all; it is the view's name where one projection makes the whole view. */
  name: string
  view: string
  /** Raised whenever the projection makes other rows of the same log. Then its view is rebuilt, and no other. */
  version: number
  /** The row that an event changes, or a limited number of rows; undefined where it changes none. */
  key(event: Recorded): string | readonly string[] | undefined
  /**
   * For each event type that the projection handles, the row after an event. Undefined removes the row; a row that is
   * returned unchanged is not written.
   */
  on: { readonly [Name in Type]: Evolve<Row> }
  /** For each index, the place of a row; undefined leaves the row out. No two rows may have the same place. */
  indexes: { readonly [index: string]: Place<Row> }
}

// A method's parameters are compared both ways, so a list of projections may forget the rows that each one makes.
type Evolve<Row> = { evolve(row: Row | undefined, event: Recorded, key?: string): Row | undefined }['evolve']
type Place<Row> = { place(row: Row, key: string): string | undefined }['place']
