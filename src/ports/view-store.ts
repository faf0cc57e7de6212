import type { Position } from '../../schemas/recorded.ts'

/**
 * Where the views live: documents by key, and indexes that order them. All of it can be thrown away and built again
 * from the log, but for the leases and snapshots, which can be thrown away too. Everything rejects with Unavailable when
 * the store does not answer; then a write may have been made, which stating the same checkpoint again finds out.
 */
export interface ViewStore {
  /** How far into the log the rows reach; undefined for an empty store. */
  checkpoint(): Promise<Checkpoint | undefined>
  get<Row>(view: string, key: string): Promise<Row | undefined>
  /** Rows of any views as of one moment, and how far all rows reach then. */
  getMany<Row>(rows: RowAddress[]): Promise<{ position: Position; rows: (Row | undefined)[] }>
  /** The rows that an index orders, with their place in that order. BY_KEY orders every view by its keys. */
  list<Row>(view: string, index: string, range: Range): Promise<Entry<Row>[]>
  /**
   * Writes rows, index entries and the new checkpoint in one step.
   * Rejects with CheckpointMoved when the store is no longer at `from`, and then writes nothing.
   */
  commit(batch: Batch): Promise<void>

  /**
   * Takes those keys for which nobody holds a lease at `nowMs`, until `untilMs`, and returns them. A holder that asks
   * again before the end keeps what it has: `holder` names it.
   */
  lease(keys: string[], holder: string, nowMs: number, untilMs: number): Promise<string[]>
  /** Gives those leases back that the holder still has. */
  release(keys: string[], holder: string): Promise<void>

  loadSnapshot(stream: string): Promise<Snapshot | undefined>
  saveSnapshot(stream: string, snapshot: Snapshot): Promise<void>
  deleteSnapshots(): Promise<void>

  /** Every row and index entry as text, by rising address, as of one moment, to compare two stores. */
  dump(): Promise<Dump>
  /** Makes the cells hold what is given, in one step. Rejects like `commit`. */
  repair(changes: CellChange[], at: Checkpoint): Promise<void>
  /** Throws everything away. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** The index that every view has: a row's place is its key. */
export const BY_KEY = 'key'

export interface Checkpoint {
  position: Position
  /** The event at the position. A log that was restored from a backup may have another one there. */
  eventId: string
  /** The first event of the log. Another log has another one. */
  origin: string
  /** The version of the projections that the rows were made with. */
  version: number
}

export interface Range {
  /** What the entries' places begin with. */
  prefix: string
  /** Only places after this one, in the order asked for. */
  after?: string | undefined
  /** Only places before this one. */
  before?: string | undefined
  newestFirst?: boolean
  limit: number
}

export interface Entry<Row> {
  place: string
  key: string
  row: Row
}

export interface Batch {
  from: Checkpoint | undefined
  to: Checkpoint
  rows: RowChange[]
  entries: EntryChange[]
}

export interface RowAddress {
  view: string
  key: string
}

/** A row to write; `undefined` takes it away. */
export interface RowChange extends RowAddress {
  row: object | undefined
}

/** An index entry to write: the place, and the key of the row that stands there; `undefined` takes it away. */
export interface EntryChange {
  view: string
  index: string
  place: string
  key: string | undefined
}

/** One stored thing: where it is and what it holds. */
export interface Cell {
  address: string
  value: string
}

/** What a cell should hold; `undefined` takes it away. */
export interface CellChange {
  address: string
  value: string | undefined
}

export interface Dump {
  checkpoint: Checkpoint | undefined
  cells: AsyncIterable<Cell>
  /** Lets go of the moment that was held. To be called in any case. */
  close(): void
}

/** A stream's folded state at a revision, to spare the reading of what came before. `hash` is the chain's there. */
export interface Snapshot {
  version: number
  revision: number
  hash: string
  state: unknown
}

/** Another projector advanced the store. */
export class CheckpointMoved extends Error {
  override name = 'CheckpointMoved'
}
