import type { Views } from '../../../schemas/views.ts'
import { OneAtATime } from '../../flow/one-at-a-time.ts'
import type { Clock } from '../../ports/clock.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import { type Caller, modeOf } from '../caller.ts'
import type { Reads } from './reads.ts'

/** Rows read at a time. The largest rows take a few milliseconds, during which no other work is done. */
export const SCAN_ROWS = 25

/** Rows examined for a page of a filtered list, so that a rare match cannot make a request read a whole history. */
const MAX_SCANNED = 500

interface PageQuery<Row, Id> {
  limit: number
  /** The ID of the last row on the previous page. */
  cursor?: Id | undefined
  matches(row: Row): boolean
  /** An index whose places are `<owner>/<id>`; by default the keys. */
  index?: string
  /** Only rows whose IDs are less. The next limit is for greater IDs. A cursor lies between them. */
  below?: string | undefined
  above?: string | undefined
}

/** A client that waits for a page. */
export interface WaitingClient {
  /** Resolves when more rows may be read for this client. */
  nextTurn(): Promise<void>
  /** Aborts when the client disconnects. */
  signal: AbortSignal
}

/** `next` is the cursor of the next page, or null at the end. */
export interface Page<Row, Id> {
  found: Row[]
  next: Id | null
}

/** The index for the lists of a test key. Lists of live keys have few test rows to skip. */
export const indexFor = (caller: Caller) => (modeOf(caller).livemode === false ? { index: 'ofTests' } : {})

interface Dependencies {
  reads: Reads
  clock: Clock
}

/**
 * Lists owners' rows, newest first, from views whose keys are `<owner>/<id>` with rising IDs. Reads the pages of an
 * owner one after another.
 */
export class NewestFirst {
  readonly #dependencies: Dependencies
  readonly #reading = new OneAtATime<string>()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * A page may be short or empty although `next` shows that there are more rows to examine. Reads nothing for a client
   * that has disconnected.
   */
  async page<Name extends keyof Views, Id extends string>(
    view: Name,
    owner: string,
    query: PageQuery<Views[Name], Id>,
    client?: WaitingClient,
  ): Promise<Page<Views[Name], Id>> {
    await this.#dependencies.reads.ownWrites(owner)
    return this.#reading.do(owner, () => this.#read(view, owner, query, client))
  }

  async #read<Name extends keyof Views, Id extends string>(
    view: Name,
    owner: string,
    { limit, cursor, matches, index = BY_KEY, below, above }: PageQuery<Views[Name], Id>,
    client: WaitingClient | undefined,
  ): Promise<Page<Views[Name], Id>> {
    const { reads, clock } = this.#dependencies
    const prefix = `${owner}/`
    const found: Views[Name][] = []
    let shown: Id | null = null
    let last: string | undefined = cursor ?? below
    const before = above && prefix + above
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_ROWS) {
      // Serves other requests between two reads.
      if (scanned > 0) await (client?.nextTurn() ?? delay(clock, 0))
      if (client?.signal.aborted) return { found: [], next: null }
      const after = last && prefix + last
      const entries = await reads.list(view, index, { prefix, after, before, newestFirst: true, limit: SCAN_ROWS })
      for (const { place, row } of entries) {
        last = place.slice(prefix.length)
        if (!matches(row)) continue
        // One match more than requested shows that there are more.
        if (found.length === limit) return { found, next: shown }
        found.push(row)
        shown = last as Id
      }
      if (entries.length < SCAN_ROWS) return { found, next: null }
    }
    return { found, next: (last ?? null) as Id | null }
  }
}
