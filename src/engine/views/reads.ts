import { LRUCache } from 'lru-cache'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Position } from '../../../schemas/recorded.ts'
import type { ViewName, Views } from '../../../schemas/views.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Entry, Range, ViewStore } from '../../ports/view-store.ts'
import type { Changes, Progress } from './progress.ts'

/** How long a read waits for the views to show what this process wrote. They are a few milliseconds behind as a rule. */
const READ_YOUR_WRITES_MS = 5000

/** Rows kept in memory; each takes a few hundred bytes. */
const MAX_RECENT = 50_000

/** Where the last event lies that this process wrote to an account. */
export interface OwnWrites {
  lastPosition(accountId: AccountId): Position
}

/** Reads the views. What concerns an account is read when the views have passed all that this process wrote to it. */
export class Reads {
  readonly #store: ViewStore
  readonly #progress: Progress
  readonly #ownWrites: OwnWrites
  readonly #recent = new LRUCache<string, object>({ max: MAX_RECENT })
  #changes = 0

  constructor(store: ViewStore, progress: Progress, ownWrites: OwnWrites) {
    this.#store = store
    this.#progress = progress
    this.#ownWrites = ownWrites
    progress.changes.subscribe(changes => this.#forget(changes))
  }

  /**
   * What to wait for until the views show this process's own writes; undefined when they do already. The wait rejects
   * with Unavailable.
   */
  ownWrites(accountId: AccountId): Promise<void> | undefined {
    const position = this.#ownWrites.lastPosition(accountId)
    return position <= this.#progress.position ? undefined : this.#progress.passed(position, READ_YOUR_WRITES_MS)
  }

  /** A row of an account as it is after all that this process wrote to the account. Rejects with Unavailable. */
  async getOwn<Name extends ViewName>(accountId: AccountId, view: Name, key: string): Promise<Views[Name] | undefined> {
    const pending = this.ownWrites(accountId)
    if (pending) await pending
    return this.get(view, key)
  }

  /** Resolves when the views have passed a position that another process wrote. Rejects with Unavailable. */
  passed(position: Position): Promise<void> {
    return this.#progress.passed(position, READ_YOUR_WRITES_MS)
  }

  get<Name extends ViewName>(view: Name, key: string): Views[Name] | undefined | Promise<Views[Name] | undefined> {
    this.#expectRight()
    if (!kept.has(view)) return this.#store.get(view, key)
    const recent = this.#recent.get(`${view}/${key}`) as Views[Name] | undefined
    return recent ?? this.#load(view, key)
  }

  list<Name extends ViewName>(view: Name, index: string, range: Range): Promise<Entry<Views[Name]>[]> {
    this.#expectRight()
    return this.#store.list(view, index, range)
  }

  /** What is missing from such views is not missing, and what is there may be old, or somebody else's. */
  #expectRight() {
    if (this.#progress.areWrong) throw new Unavailable('the views are being built anew, or are of another log')
  }

  async #load<Name extends ViewName>(view: Name, key: string): Promise<Views[Name] | undefined> {
    const changes = this.#changes
    const row = await this.#store.get<Views[Name]>(view, key)
    // A row that was read while the views changed may already be an old one.
    if (row && changes === this.#changes) this.#recent.set(`${view}/${key}`, row)
    return row
  }

  #forget(changes: Changes) {
    this.#changes += 1
    if (changes === 'unknown') this.#recent.clear()
    else for (const { view, key } of changes) if (kept.has(view)) this.#recent.delete(`${view}/${key}`)
  }
}

/**
 * Views whose rows are small and read with nearly every request: they are kept in memory until they change.
 * Keys are not among them: a revoked key must not be served from memory.
 */
const kept: ReadonlySet<string> = new Set<ViewName>(['accounts', 'balance'])
