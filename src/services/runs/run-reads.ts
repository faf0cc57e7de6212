import { filter, type Observable } from 'rxjs'
import { hasEnded, runKey } from '../../../projections/runs.ts'
import type { RunsQuery } from '../../../schemas/api/run.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { listNewest, type Page } from '../../engine/views/list-newest.ts'
import type { Reads } from '../../engine/views/reads.ts'
import type { Watch } from '../../engine/views/watch.ts'
import { ApiError } from '../api-error.ts'
import { parseRunId } from '../ids.ts'

/** How far a run is, from 0 to 1, as its provider tells. */
export interface RunProgress {
  runId: RunId
  progress: number
}

/** Which of an account's runs are wanted: the next so many after the cursor, of a status, of a model. */
export type RunsWanted = Omit<RunsQuery, 'limit'> & { limit: number }

/** How often whoever follows a run looks for themselves, in case a change was not told. */
const LOOK_AGAIN_MS = 60_000

export interface RunReadsParts {
  reads: Reads
  watch: Watch
  /** How far the runs are that this process works on. */
  progress: Observable<RunProgress>
}

/** Shows runs as they are, and as they change. */
export class RunReads {
  readonly #parts: RunReadsParts

  constructor(parts: RunReadsParts) {
    this.#parts = parts
  }

  /** An account's own run, by either form of its id. Rejects with ApiError for any other, whether it exists or not. */
  async find(accountId: AccountId, id: string): Promise<RunRow> {
    const runId = parseRunId(id)
    const row = runId && (await this.#rowOf(accountId, runId))
    if (!row) throw new ApiError('run_not_found', 'There is no such run.')
    return row
  }

  /** A run that was accepted: that it is not there would be a fault of ours. Rejects with Unavailable. */
  async getExisting(accountId: AccountId, runId: RunId): Promise<RunRow> {
    const row = await this.#rowOf(accountId, runId)
    if (!row) throw new Error(`the run ${runId} is not in the views, which have passed it`)
    return row
  }

  /** A page of an account's runs, the newest first. Rejects with Unavailable. */
  list(accountId: AccountId, { limit, cursor, status, model }: RunsWanted): Promise<Page<RunRow, RunId>> {
    const matches = (row: RunRow) => (!status || row.status === status) && (!model || row.model === model)
    return listNewest(this.#parts.reads, 'runs', accountId, { limit, cursor, matches })
  }

  /** A run as it is, and at each change until it has ended, the service stops or the signal aborts. Throws Unavailable. */
  async *changes(accountId: AccountId, runId: RunId, signal: AbortSignal): AsyncGenerator<RunRow> {
    const { watch } = this.#parts
    let shown: number | undefined
    while (!signal.aborted && !watch.closed) {
      // The waiting begins before the look, so that no change falls between them; so it does in whenEnded.
      const waiting = watch.begin('runs', runKey(accountId, runId), LOOK_AGAIN_MS, signal)
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

  /** Tells a listener how far a run is, from 0 to 1, while this process works on it. Returns the way to stop that. */
  onProgress(runId: RunId, listener: (progress: number) => void): () => void {
    const subscription = this.#parts.progress
      .pipe(filter(told => told.runId === runId))
      .subscribe(told => listener(Math.round(told.progress * 1000) / 1000))
    return () => subscription.unsubscribe()
  }

  /** Waits until a run has ended, for so long at the most or until the signal aborts, and resolves to it as it is then. Rejects with Unavailable. */
  async whenEnded(row: RunRow, waitMs: number, signal?: AbortSignal): Promise<RunRow> {
    const { accountId, runId } = row
    const endMs = performance.now() + waitMs
    let latest = row
    while (!hasEnded(latest)) {
      const remainingMs = endMs - performance.now()
      if (remainingMs <= 0) break
      const waiting = this.#parts.watch.begin('runs', runKey(accountId, runId), remainingMs, signal)
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
