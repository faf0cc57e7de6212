import { finalize, from, Observable, ReplaySubject, share } from 'rxjs'
import { hasEnded, runKey } from '../../../projections/runs.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { Watch } from '../../engine/views/watch.ts'

/** How often a followed run is read again in case a change went unreported. */
const RECHECK_MS = 60_000

interface Dependencies {
  watch: Watch
  /** Reads a run that is known to exist. Rejects with Unavailable. */
  read(accountId: AccountId, runId: RunId): Promise<RunRow>
}

/** The changes of runs. All followers of a run share one read per change. */
export class RunChanges {
  readonly #dependencies: Dependencies
  readonly #shared = new Map<string, Observable<RunRow>>()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Emits a run as last read, and after each change, until it has ended or the service stops. Errors with Unavailable.
   * Subscribe at once. The first row may be older than one that the caller has.
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
