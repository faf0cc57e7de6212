import {
  concat,
  defer,
  distinctUntilChanged,
  filter,
  finalize,
  from,
  fromEvent,
  lastValueFrom,
  map,
  merge,
  Observable,
  of,
  ReplaySubject,
  scan,
  share,
  takeUntil,
  takeWhile,
  timer,
} from 'rxjs'
import { hasEnded, runKey } from '../../../projections/runs.ts'
import type { AccountId, KeyId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow, RunStatus } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Watch } from '../../engine/views/watch.ts'
import type { Clock } from '../../ports/clock.ts'
import { schedulerOf } from '../../time/observables.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, isListedFor, isSeenBy } from '../caller.ts'
import { firstRunIdAt, parseRunId } from '../ids.ts'
import { indexFor, NewestFirst, type Page, type WaitingClient } from '../views/newest-first.ts'
import { type RunRowDependencies, readRunRow } from './run-rows.ts'

/** The progress of a run from 0 to 1, as reported by its provider. */
export interface RunProgress {
  runId: RunId
  progress: number
}

/** What runs to find. Times are ISO 8601 in UTC: `from` is included, `to` is not. `model` is a family or endpoint. */
export interface RunsFilter {
  status?: RunStatus | undefined
  model?: string | undefined
  label?: string | undefined
  keyId?: KeyId | undefined
  from?: string | undefined
  to?: string | undefined
}

/** The page of runs to list. */
export interface RunsQuery extends RunsFilter {
  cursor?: RunId | undefined
  limit: number
}

/** A run gets its ID before its file is stored, and its time when it is recorded. */
const MAX_ID_AGE_MS = 60_000

interface Dependencies extends RunRowDependencies {
  watch: Watch
  clock: Clock
  /** The progress of the runs that this process works on. */
  progress: Observable<RunProgress>
}

/** Reads runs, and follows their changes. */
export class RunReads {
  readonly #dependencies: Dependencies
  readonly #changes: RunChanges
  readonly #newestFirst: NewestFirst

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#newestFirst = new NewestFirst(dependencies)
    const read = (accountId: AccountId, runId: RunId) => this.readRun(accountId, runId)
    this.#changes = new RunChanges({ watch: dependencies.watch, read })
  }

  /** A caller's own run, by either form of its id. One of another account or mode is treated as absent. */
  async findRun(caller: AccountCaller, id: string): Promise<Answer<RunRow>> {
    const runId = parseRunId(id)
    const row = runId && (await this.#rowOf(caller.accountId, runId))
    return row && isSeenBy(caller, row) ? answer(row) : refuse('run_not_found')
  }

  /** A run that is known to exist. Rejects with Unavailable if its row is missing or forged. */
  async readRun(accountId: AccountId, runId: RunId): Promise<RunRow> {
    const row = await this.#rowOf(accountId, runId)
    if (!row) throw this.#dependencies.reads.missing('runs', runKey(accountId, runId))
    return row
  }

  /** A page of a caller's runs, newest first. Rejects with Unavailable. */
  listRuns(
    caller: AccountCaller,
    { limit, cursor, ...filter }: RunsQuery,
    client?: WaitingClient,
  ): Promise<Page<RunRow, RunId>> {
    const query = { limit, cursor, ...this.rangeOf(caller, filter) }
    // A cursor of another list must not lead out of the range.
    if (cursor !== undefined && query.below !== undefined && cursor > query.below) query.cursor = undefined
    return this.#newestFirst.page('runs', caller.accountId, query, client)
  }

  /** Where the runs of a filter lie, and which of them match. */
  rangeOf(caller: AccountCaller, { status, model, label, keyId, from, to }: RunsFilter) {
    const matches = (row: RunRow) =>
      isListedFor(caller, row) &&
      (!status || row.status === status) &&
      (!model || row.model === model || row.endpoint === model) &&
      (label === undefined || row.label === label) &&
      (keyId === undefined || row.keyId === keyId) &&
      (from === undefined || row.createdAt >= from) &&
      (to === undefined || row.createdAt < to)
    return {
      matches,
      ...indexFor(caller),
      below: to === undefined ? undefined : firstRunIdAt(Date.parse(to)),
      above: from === undefined ? undefined : firstRunIdAt(Date.parse(from) - MAX_ID_AGE_MS),
    }
  }

  /**
   * Emits a run as its follower found it, then after each change, until it has ended, the service stops or the signal
   * aborts. Errors with Unavailable.
   */
  changes(row: RunRow, signal: AbortSignal): Observable<RunRow> {
    return this.#follow(row, aborted(signal))
  }

  /** Emits a run's progress from 0 to 1 while this process works on it. */
  progress(runId: RunId): Observable<number> {
    return this.#dependencies.progress.pipe(
      filter(report => report.runId === runId),
      map(({ progress }) => Math.round(progress * 1000) / 1000),
    )
  }

  /**
   * Waits until a run has ended, the time is up or the signal aborts, and resolves to its state then. Rejects
   * with Unavailable.
   */
  async whenEnded(row: RunRow, waitMs: number, signal?: AbortSignal): Promise<RunRow> {
    if (waitMs <= 0) return row
    const timeUp = timer(waitMs, schedulerOf(this.#dependencies.clock))
    const changes = this.#follow(row, signal ? merge(timeUp, aborted(signal)) : timeUp)
    return lastValueFrom(changes, { defaultValue: row })
  }

  #follow(row: RunRow, until: Observable<unknown>): Observable<RunRow> {
    const shared = defer(() => this.#changes.of(row.accountId, row.runId))
    return concat(of(row), shared).pipe(
      // A shared row may be older than the follower's own.
      scan((latest, next) => (next.revision > latest.revision ? next : latest)),
      distinctUntilChanged(),
      takeWhile(latest => !hasEnded(latest), true),
      takeUntil(until),
    )
  }

  #rowOf(accountId: AccountId, runId: RunId): Promise<RunRow | undefined> {
    return readRunRow(this.#dependencies, accountId, runId)
  }
}

export const aborted = (signal: AbortSignal) => defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')))

/** How often a followed run is read again in case a change went unreported. */
const RECHECK_MS = 60_000

interface ChangesDependencies {
  watch: Watch
  /** Reads a run that is known to exist. Rejects with Unavailable. */
  read(accountId: AccountId, runId: RunId): Promise<RunRow>
}

/** The changes of runs. All followers of a run share one read per change. */
class RunChanges {
  readonly #dependencies: ChangesDependencies
  readonly #shared = new Map<string, Observable<RunRow>>()

  constructor(dependencies: ChangesDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Emits the last known row of a run, and a row after each change, until the run has ended or the service stops.
   * Errors with Unavailable. Subscribe at once. The first row may be older than the row that the caller has.
   */
  of(accountId: AccountId, runId: RunId): Observable<RunRow> {
    const key = runKey(accountId, runId)
    const shared =
      this.#shared.get(key) ??
      this.#changes(accountId, runId).pipe(
        finalize(() => this.#shared.delete(key)),
        share({ connector: () => new ReplaySubject(1) }),
      )
    this.#shared.set(key, shared)
    return shared
  }

  #changes(accountId: AccountId, runId: RunId): Observable<RunRow> {
    return new Observable(followers => {
      const unfollowed = new AbortController()
      followers.add(() => unfollowed.abort())
      from(this.#rows(accountId, runId, unfollowed.signal)).subscribe(followers)
    })
  }

  async *#rows(accountId: AccountId, runId: RunId, signal: AbortSignal): AsyncGenerator<RunRow> {
    const { watch, read } = this.#dependencies
    do {
      // The wait starts before the read, so that no change is missed between them.
      const waiting = watch.begin('runs', runKey(accountId, runId), RECHECK_MS, signal)
      try {
        const row = await read(accountId, runId)
        yield row
        if (hasEnded(row)) return
        await waiting.changed
      } finally {
        waiting.end()
      }
    } while (!signal.aborted && !watch.isClosed)
  }
}
