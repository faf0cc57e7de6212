import { lineKey, linePlace } from '../../../projections/statement.ts'
import type { AccountId, Moded } from '../../../schemas/primitives.ts'
import type { RunRow, StatementRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import { OneAtATime } from '../../flow/one-at-a-time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { mayStillRead } from '../accounts/may-still-read.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, modeOf } from '../caller.ts'
import { readRunRow } from '../runs/run-rows.ts'
import { NewestFirst, type Page, SCAN_ROWS, type WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { type AccountMoment, lineAt } from './past-line.ts'

/** Times of the log. `from` is included, `to` is not. */
export interface Period {
  from?: string | undefined
  to?: string | undefined
}

export interface LedgerQuery extends Period {
  kind?: StatementRow['kind'] | undefined
  limit: number
  /** The revision of the last line on the previous page. */
  cursor?: string | undefined
}

/** A line of the ledger. A refund without the facts of its debit gets its run from the debit. */
export interface LedgerEntry {
  line: StatementRow
  run?: RunRow | undefined
}

/** The owner of a ledger, or an auditor. Test keys move no credits, so they have no lines. */
type LedgerReader = Pick<AccountCaller, 'accountId'> & Moded

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  log: Pick<EventLog, 'readEvent' | 'readStream'>
  clock: Clock
}

/** Shows the owner of an account its ledger. */
export class Ledger {
  readonly #dependencies: Dependencies
  readonly #newestFirst: NewestFirst
  /** The search for a past balance may read the whole history of an account. */
  readonly #looking = new OneAtATime<AccountId>()

  readonly permissions = { lines: 'read', newer: 'read', export: 'read', balanceAt: 'read', balances: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#newestFirst = new NewestFirst(dependencies)
  }

  /**
   * A page of the caller's lines, newest first: ordered as in the log, or by time if the period is limited. The orders
   * differ only where times went back, in ledger format 1. Rejects with Unavailable.
   */
  async lines(
    caller: LedgerReader,
    { from, to, kind, limit, cursor }: LedgerQuery,
    client?: WaitingClient,
  ): Promise<Answer<Page<LedgerEntry, string>>> {
    if (caller.livemode === false) return answer({ found: [], next: null })
    const { accountId } = caller
    const matches = (row: StatementRow) => kind === undefined || row.kind === kind
    const isOfPeriod = from !== undefined || to !== undefined
    let below = to
    if (cursor !== undefined) {
      const key = lineKey(accountId, Number(cursor))
      const last = await this.#dependencies.reads.getOwn(accountId, 'statement', key)
      if (!last) return refuse('cursor_unknown')
      const place = isOfPeriod ? linePlace(accountId, last.at, last.revision) : key
      const id = place.slice(accountId.length + 1)
      // Keeps the page within the period for every cursor.
      below = below === undefined || id < below ? id : below
    }
    const query = { limit, matches, index: isOfPeriod ? 'byTime' : BY_KEY, below, above: from }
    const page = await this.#newestFirst.page('statement', accountId, query, client)
    return answer({ found: await this.#withRuns(accountId, page.found), next: page.next && cursorOf(page.next) })
  }

  /**
   * The cursor of the page before the one that a cursor begins, of as many lines; null if that is the first page. Pages
   * of lines in the order of times, up to the newest line.
   */
  async newer({ accountId }: AccountCaller, cursor: string, limit: number): Promise<Answer<string | null>> {
    const { reads } = this.#dependencies
    const line = await reads.getOwn(accountId, 'statement', lineKey(accountId, Number(cursor)))
    if (!line) return refuse('cursor_unknown')
    const after = linePlace(accountId, line.at, line.revision)
    // The page shows the lines before the one at its cursor, so it takes one more.
    const lines = await reads.list('statement', 'byTime', { prefix: `${accountId}/`, after, limit })
    const first = lines[limit - 1]
    return answer(first ? cursorOf(first.place) : null)
  }

  /**
   * The caller's balances before some times, which rise. Reads at most one line for each time, however many lines there
   * are. In ledger format 1, where times may go back, the balances are those in the order of times.
   */
  async balances({ accountId }: AccountCaller, times: readonly string[]): Promise<Answer<number[]>> {
    const { reads, clock } = this.#dependencies
    await reads.ownWrites(accountId)
    const prefix = `${accountId}/`
    return this.#looking.do(accountId, async () => {
      const found: number[] = []
      let line: StatementRow | undefined
      for (const [count, time] of times.toReversed().entries()) {
        if (count === 0 || (line && line.at >= time)) {
          const range = { prefix, after: prefix + time, newestFirst: true, limit: 1 }
          line = (await reads.list('statement', 'byTime', range))[0]?.row
        }
        found.unshift(line?.balanceAfterMicros ?? 0)
        if (count % SCAN_ROWS === SCAN_ROWS - 1) await delay(clock, 0)
      }
      return answer(found)
    })
  }

  /**
   * All current lines of the caller, oldest first, in parts. Ends early if the client disconnects. Rejects with
   * Unavailable, also if the caller's key was revoked.
   */
  async export(
    caller: AccountCaller,
    period: Period,
    client?: WaitingClient,
  ): Promise<Answer<AsyncGenerator<LedgerEntry[], void>>> {
    await this.#dependencies.reads.ownWrites(caller.accountId)
    return answer(modeOf(caller).livemode === false ? nothing() : this.#read(caller, period, client))
  }

  async *#read(caller: AccountCaller, { from, to }: Period, client?: WaitingClient) {
    const { accounts, reads, clock } = this.#dependencies
    const { accountId } = caller
    const prefix = `${accountId}/`
    const isOfPeriod = from !== undefined || to !== undefined
    const index = isOfPeriod ? 'byTime' : BY_KEY
    const [newest] = await reads.list('statement', BY_KEY, { prefix, newestFirst: true, limit: 1 })
    const end = newest?.row.revision ?? -1
    const [last] = await reads.list('statement', index, {
      prefix,
      after: to && prefix + to,
      newestFirst: true,
      limit: 1,
    })
    // Omits later lines, because the export of a busy account might otherwise never end. If a clock went back, later
    // lines may come before earlier lines in the order of times.
    const before = last ? `${last.place}~` : prefix
    let after = from && prefix + from
    while (true) {
      const entries = await reads.list('statement', index, { prefix, after, before, limit: SCAN_ROWS })
      const lines = entries.map(({ row }) => row).filter(({ revision }) => revision <= end)
      yield await this.#withRuns(accountId, lines)
      if (entries.length < SCAN_ROWS) return
      after = entries.at(-1)?.place
      await (client?.nextTurn() ?? delay(clock, 0))
      if (client?.signal.aborted) return
      if (!(await mayStillRead({ accounts, clock }, caller))) throw new Error('the caller may no longer read')
    }
  }

  /** The caller's past balance, after all of the caller's earlier requests. Rejects with Unavailable. */
  async balanceAt({ accountId }: AccountCaller, moment: AccountMoment): Promise<Answer<{ balanceMicros: number }>> {
    const { accounts, reads, log, clock } = this.#dependencies
    if ('at' in moment) {
      const now = new Date(clock.nowMs()).toISOString()
      if (moment.at > now) return refuse('time_ahead', { now })
    } else {
      const lastRevision = await accounts.shownRevision(accountId)
      if (moment.revision > lastRevision) return refuse('revision_unknown', { lastRevision })
    }
    await reads.ownWrites(accountId)
    const dependencies = { reads, log, pause: () => delay(clock, 0) }
    const line = await this.#looking.do(accountId, () => lineAt(dependencies, accountId, moment))
    return answer({ balanceMicros: line?.balanceAfterMicros ?? 0 })
  }

  #withRuns(accountId: AccountId, lines: StatementRow[]): LedgerEntry[] | Promise<LedgerEntry[]> {
    if (!lines.some(isOlderRefund)) return lines.map(line => ({ line }))
    return Promise.all(
      lines.map(async line => {
        if (!isOlderRefund(line)) return { line }
        return { line, run: await readRunRow(this.#dependencies, accountId, line.runId) }
      }),
    )
  }
}

async function* nothing(): AsyncGenerator<LedgerEntry[], void> {}

const isOlderRefund = (line: StatementRow): line is StatementRow & Required<Pick<StatementRow, 'runId'>> =>
  line.kind === 'refund' && line.runId !== undefined && line.model === undefined

/** The revision at the end of a row's ID. */
const cursorOf = (id: string) => String(Number(id.slice(id.lastIndexOf('/') + 1)))
