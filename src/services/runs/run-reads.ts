import { filter, type Observable } from 'rxjs'
import { hasEnded, runKey } from '../../../projections/runs.ts'
import type * as api from '../../../schemas/api/run.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Watch } from '../../engine/views/watch.ts'
import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type Answer, answer } from '../answer.ts'
import { parseRunId } from '../ids.ts'
import { listNewest, type Page } from '../list-newest.ts'
import type { Reads } from '../reads.ts'

/** The progress of a run from 0 to 1, as reported by its provider. */
export interface RunProgress {
  runId: RunId
  progress: number
}

/** The page of runs to list, with filters by status and model. */
export type RunsQuery = Omit<api.RunsQuery, 'limit'> & { limit: number }

/** How often a follower reads the run again in case a change went unreported. */
const RECHECK_MS = 60_000

interface Parts {
  reads: Reads
  watch: Watch
  clock: Clock
  /** The progress of the runs that this process works on. */
  progress: Observable<RunProgress>
}

/** Reads runs, and follows their changes. */
export class RunReads {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** An account's own run, by either form of its id. Another account's run is treated as absent. */
  async find(accountId: AccountId, id: string): Promise<Answer<RunRow>> {
    const runId = parseRunId(id)
    const row = runId && (await this.#rowOf(accountId, runId))
    return row ? answer(row) : refuse('run_not_found')
  }

  /** A run that is known to exist. Rejects with Unavailable if its row is missing or forged. */
  async getExisting(accountId: AccountId, runId: RunId): Promise<RunRow> {
    const row = await this.#rowOf(accountId, runId)
    if (!row) throw new Unavailable(`the run ${runId} is missing from the views, which are being rebuilt`)
    return row
  }

  /** A page of an account's runs, newest first. Rejects with Unavailable. */
  list(accountId: AccountId, { limit, cursor, status, model }: RunsQuery): Promise<Page<RunRow, RunId>> {
    const matches = (row: RunRow) => (!status || row.status === status) && (!model || row.model === model)
    return listNewest(this.#parts.reads, 'runs', accountId, { limit, cursor, matches })
  }

  /**
   * Yields a run now and after each change, until it has ended, the service stops or the signal aborts. Throws
   * Unavailable.
   */
  async *changes(accountId: AccountId, runId: RunId, signal: AbortSignal): AsyncGenerator<RunRow> {
    const { watch } = this.#parts
    let shown: number | undefined
    while (!signal.aborted && !watch.isClosed) {
      // The wait starts before the read, so that no change is missed between them. whenEnded does the same.
      const waiting = watch.begin('runs', runKey(accountId, runId), RECHECK_MS, signal)
      try {
        const row = await this.getExisting(accountId, runId)
        if (row.revision !== shown) yield row
        shown = row.revision
        if (hasEnded(row)) return
        await waiting.changed
      } finally {
        waiting.end()
      }
    }
  }

  /** Reports a run's progress from 0 to 1 while this process works on it. Returns a function that stops the reports. */
  onProgress(runId: RunId, listener: (progress: number) => void): () => void {
    const subscription = this.#parts.progress
      .pipe(filter(report => report.runId === runId))
      .subscribe(report => listener(Math.round(report.progress * 1000) / 1000))
    return () => subscription.unsubscribe()
  }

  /**
   * Waits until a run has ended, the time is up or the signal aborts, and resolves to the run as it is then. Rejects
   * with Unavailable.
   */
  async whenEnded(row: RunRow, waitMs: number, signal?: AbortSignal): Promise<RunRow> {
    const { watch, clock } = this.#parts
    const { accountId, runId } = row
    const endMs = clock.monotonicMs() + waitMs
    let latest = row
    while (!hasEnded(latest)) {
      const remainingMs = endMs - clock.monotonicMs()
      if (remainingMs <= 0) break
      const waiting = watch.begin('runs', runKey(accountId, runId), remainingMs, signal)
      try {
        latest = await this.getExisting(accountId, runId)
        if (!hasEnded(latest) && !(await waiting.changed)) break
      } finally {
        waiting.end()
      }
    }
    return latest
  }

  #rowOf(accountId: AccountId, runId: RunId): Promise<RunRow | undefined> {
    return this.#parts.reads.getOwn(accountId, 'runs', runKey(accountId, runId))
  }
}
