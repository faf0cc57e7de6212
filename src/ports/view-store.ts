import type { Position } from '../../schemas/recorded.ts'
import { BEFORE_FIRST } from './event-log.ts'

/**
 * Stores the views: documents by key, and indexes that order them. Everything is disposable: rows are rebuilt from the
 * log, and leases and snapshots are optional. Methods reject with Unavailable if the store does not respond. A write
 * may then have succeeded, and a retry from the same checkpoint finds out.
 */
export interface ViewStore {
  /**
   * The last event in the rows; undefined for an empty store. DAMAGED if it cannot be read, or if the store has lost
   * rows or entries since the last write. A damaged store refuses writes until it is cleared.
   */
  checkpoint(): Promise<Checkpoint | undefined>
  get<Row>(view: string, key: string): Promise<Row | undefined>
  /**
   * A consistent read of rows from any views, with the store's position at that moment. A row that the service did not
   * write is null.
   */
  getMany<Row>(rows: RowAddress[]): Promise<{ position: Position; rows: (Row | undefined | null)[] }>
  /** The rows in an index, with their places in its order. The index BY_KEY of every view orders rows by key. */
  list<Row>(view: string, index: string, range: Range): Promise<Entry<Row>[]>
  /**
   * Writes rows, index entries and the new checkpoint atomically.
   * Rejects with CheckpointMoved, and writes nothing, if the store is not at `from`.
   */
  commit(batch: Batch): Promise<void>

  /**
   * Leases the keys that no other holder leases at `nowMs`, until `untilMs`, and returns them. A holder also renews its
   * leases this way. A lease that ends more than MAX_CLOCK_SKEW_MS after `untilMs` is void, because it was taken while
   * a clock was ahead.
   */
  lease(keys: string[], holder: string, nowMs: number, untilMs: number): Promise<string[]>
  /** Ends the leases that the holder still has. */
  release(keys: string[], holder: string): Promise<void>

  /**
   * Stores a text of a process until `untilMs`, instead of its previous text; `undefined` deletes it. Also deletes
   * texts that ended MAX_CLOCK_SKEW_MS before `nowMs`, and texts that end as long after `untilMs`, because a clock was
   * ahead.
   */
  report(reporter: string, text: string | undefined, nowMs: number, untilMs: number): Promise<void>
  /** All stored texts, some of which may have ended. */
  reports(): Promise<Report[]>

  loadSnapshot(stream: string): Promise<Snapshot | undefined>
  saveSnapshot(stream: string, snapshot: Snapshot): Promise<void>
  /** Deletes the snapshot of a stream, or all of them. */
  deleteSnapshots(stream?: string): Promise<void>
  /** Writes over what was deleted from the files of the store. Absent from servers, which have ways of their own. */
  overwriteDeleted?(): Promise<void>

  /**
   * Texts of the tree over all streams, by key; undefined for missing keys. Keys with equal beginnings are stored close
   * together.
   */
  loadNodes(keys: string[]): Promise<(string | undefined)[]>
  /** Writes texts with different keys; `undefined` deletes one. If it rejects, some may have been written. */
  saveNodes(nodes: [key: string, text: string | undefined][]): Promise<void>
  clearNodes(): Promise<void>

  /**
   * A consistent snapshot of all rows and index entries as text, in ascending order of address, for comparing two
   * stores.
   */
  dump(): Promise<Dump>
  /** Writes cells and a checkpoint of the same position in one step. Rejects like `commit`. */
  replaceCells(changes: CellChange[], from: Checkpoint, to: Checkpoint): Promise<void>
  /** Deletes everything. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Views whose rows are texts, as an adapter keeps them. See `authenticViews` for their form. */
export interface StoredViews extends Omit<ViewStore, 'get' | 'getMany' | 'list' | 'commit'> {
  get(view: string, key: string): Promise<string | undefined>
  getMany(rows: RowAddress[]): Promise<{ position: Position; rows: (string | undefined)[] }>
  /** An entry without its row has an undefined row. */
  list(view: string, index: string, range: Range): Promise<Entry<string | undefined>[]>
  commit(batch: Batch<string>): Promise<void>
}

/** Clocks of lease holders differ by less than this. */
export const MAX_CLOCK_SKEW_MS = 60_000

/** An index of every view: a row's place is its key. */
export const BY_KEY = 'key'

export interface Checkpoint {
  position: Position
  /** The event at the position. A log restored from a backup may have another event there. */
  eventId: string
  /** The first event of the log, which identifies it. */
  origin: string
  /** For each view, the versions of the projections that made its rows. */
  versions: Readonly<Record<string, string>>
  /** The number of replacements of all cells. A commit based on earlier cells fails. */
  replacements?: number
}

/** The checkpoint of a damaged store. */
export const DAMAGED: Checkpoint = { position: BEFORE_FIRST, eventId: '', origin: '', versions: {} }

export const isDamaged = (checkpoint: Checkpoint | undefined): boolean => checkpoint?.position === BEFORE_FIRST

export interface Range {
  /** The prefix of the places to list. */
  prefix: string
  /** Only places after this one, in the requested order. */
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

export interface Batch<Row = object> {
  from: Checkpoint | undefined
  to: Checkpoint
  rows: RowChange<Row>[]
  entries: EntryChange[]
}

export interface RowAddress {
  view: string
  key: string
}

/** A row to write; `undefined` deletes it. */
export interface RowChange<Row = object> extends RowAddress {
  row: Row | undefined
}

/** An index entry to write: the key of the row at a place; `undefined` deletes it. */
export interface EntryChange {
  view: string
  index: string
  place: string
  key: string | undefined
}

/** A stored row or index entry. */
export interface Cell {
  view: string
  address: string
  value: string
}

/** A cell's new value; `undefined` deletes it. */
export interface CellChange {
  address: string
  value: string | undefined
}

interface Dump {
  checkpoint: Checkpoint | undefined
  cells: AsyncIterable<Cell>
  /** Releases the snapshot. Must always be called. */
  close(): void
}

/** A process's report about itself. No decision depends on it. */
export interface Report {
  text: string
  untilMs: number
}

/** A stream's folded state as JSON text, which saves reading earlier events, and its authentication code. */
export interface Snapshot {
  body: string
  mac: string
}

/** Another projector advanced the store. */
export class CheckpointMoved extends Error {
  override name = 'CheckpointMoved'
}
