import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import type { Position } from '../../../schemas/recorded.ts'
import { upTo } from '../../flow/cache-limit.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Entry, Range, RowAddress, ViewStore } from '../../ports/view-store.ts'
import type { Changes, ViewProgress } from './view-progress.ts'

/**
 * How long a read waits for the views to show this process's own writes. They are usually a few milliseconds behind.
 */
const READ_YOUR_WRITES_MS = 5000

/** Entries that a scan reads at a time. */
const SCAN_PAGE = 1000

/** Rows kept in memory, a few hundred bytes each. */
const MAX_CACHED = 50_000

/** The position of the last event that this process wrote for an owner. */
export interface OwnWrites {
  lastPosition(owner: string): Position
}

export interface ReadsDependencies<Rows> {
  store: ViewStore
  progress: ViewProgress
  ownWrites: OwnWrites
  /** Views whose rows stay in memory until they change: small rows that nearly every request reads. */
  cached: readonly (keyof Rows)[]
  onMissing: (row: RowAddress) => void
}

/** Reads the views. `Rows` maps each view's name to its row. */
export class Reads<Rows extends { [View in keyof Rows]: object }> {
  readonly #store: ViewStore
  readonly #progress: ViewProgress
  readonly #ownWrites: OwnWrites
  readonly #isCached: ReadonlySet<string>
  readonly #onMissing: (row: RowAddress) => void
  readonly #cache = new LRUCache<string, object>(upTo(MAX_CACHED))
  #changes = 0
  #reaching: Promise<Position> | undefined

  constructor({ store, progress, ownWrites, cached, onMissing }: ReadsDependencies<Rows>) {
    this.#store = store
    this.#progress = progress
    this.#ownWrites = ownWrites
    this.#isCached = new Set(cached.map(String))
    this.#onMissing = onMissing
    progress.changes.subscribe(changes => this.#forget(changes))
  }

  /** The changes of each commit, for what is kept of rows. */
  get changes(): Observable<Changes> {
    return this.#progress.changes
  }

  /**
   * Resolves when the views show this process's writes for an owner; returns undefined if they already do. Rejects with
   * Unavailable after a time limit.
   */
  ownWrites(owner: string): Promise<void> | undefined {
    const position = this.#ownWrites.lastPosition(owner)
    return position <= this.#progress.position ? undefined : this.#progress.passed(position, READ_YOUR_WRITES_MS)
  }

  /** A row after all of this process's writes for its owner. Rejects with Unavailable. */
  async getOwn<Name extends keyof Rows & string>(
    owner: string,
    view: Name,
    key: string,
  ): Promise<Rows[Name] | undefined> {
    const pending = this.ownWrites(owner)
    if (pending) await pending
    return this.get(view, key)
  }

  /** Reports that `getOwn` lacks a row which the log shows to exist. Returns the error to reject with. */
  missing(view: keyof Rows & string, key: string): Unavailable {
    this.#onMissing({ view, key })
    return new Unavailable(`a row of ${view} is missing, and the views are being rebuilt`, { part: 'views' })
  }

  /** Whether the views have passed a position. */
  hasPassed(position: Position): boolean {
    return position <= this.#progress.position
  }

  /** Resolves when the views have passed a position of another process. Rejects with Unavailable. */
  passed(position: Position): Promise<void> {
    return this.#progress.passed(position, READ_YOUR_WRITES_MS)
  }

  get<Name extends keyof Rows & string>(
    view: Name,
    key: string,
  ): Rows[Name] | undefined | Promise<Rows[Name] | undefined> {
    this.#expectReadable(view)
    if (!this.#isCached.has(view)) return this.#read(view, key)
    const cached = this.#cache.get(`${view}/${key}`) as Rows[Name] | undefined
    return cached ?? this.#load(view, key)
  }

  async list<Name extends keyof Rows & string>(view: Name, index: string, range: Range): Promise<Entry<Rows[Name]>[]> {
    this.#expectReadable(view)
    const { highest } = this.#progress
    const entries = await this.#store.list<Rows[Name]>(view, index, range)
    expectWhole(await this.#reachedAfterwards(), highest)
    return entries
  }

  /** The position that the views have reached. Lists that were read at the same time share one look at it. */
  #reachedAfterwards(): Promise<Position> {
    this.#reaching ??= Promise.resolve().then(() => {
      this.#reaching = undefined
      return this.#progress.reached()
    })
    return this.#reaching
  }

  /** All entries of a range, read page by page. */
  async *scan<Name extends keyof Rows & string>(
    view: Name,
    index: string,
    range: Omit<Range, 'limit'>,
  ): AsyncGenerator<Entry<Rows[Name]>> {
    let { after } = range
    while (true) {
      const page = await this.list(view, index, { ...range, after, limit: SCAN_PAGE })
      yield* page
      if (page.length < SCAN_PAGE) return
      after = page.at(-1)?.place
    }
  }

  /** A moment ago, the row may have been newer, before the views were emptied or rolled back. */
  async #read<Name extends keyof Rows & string>(view: Name, key: string): Promise<Rows[Name] | undefined> {
    const { highest } = this.#progress
    const { position, rows } = await this.#store.getMany<Rows[Name]>([{ view, key }])
    expectWhole(position, highest)
    if (rows[0] === null)
      throw new Unavailable(`a row of ${view} is damaged, and the views are being rebuilt`, { part: 'views' })
    return rows[0]
  }

  /** An unreadable view may lack rows that exist, and its rows may be wrong. */
  #expectReadable(view: string) {
    if (!this.#progress.isReadable(view))
      throw new Unavailable('the views are being rebuilt, or belong to another log or version', { part: 'views' })
  }

  async #load<Name extends keyof Rows & string>(view: Name, key: string): Promise<Rows[Name] | undefined> {
    const changes = this.#changes
    const row = await this.#read(view, key)
    // A row that was read during a change may already be outdated.
    if (row && changes === this.#changes) this.#cache.set(`${view}/${key}`, row)
    return row
  }

  #forget(changes: Changes) {
    this.#changes += 1
    if (changes === 'unknown') this.#cache.clear()
    else for (const { view, key } of changes) if (this.#isCached.has(view)) this.#cache.delete(`${view}/${key}`)
  }
}

/** Views are behind an earlier position of theirs only if they were emptied or rolled back. */
const expectWhole = (position: Position, earlier: Position) => {
  if (position < earlier) throw new Unavailable('the views were emptied, and are being rebuilt', { part: 'views' })
}
