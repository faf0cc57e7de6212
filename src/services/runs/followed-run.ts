import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  interval,
  type Observable,
  scan,
  startWith,
  takeUntil,
} from 'rxjs'
import type { RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import { schedulerOf, takeWhileAsync } from '../../time/observables.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { mayStillRead } from '../accounts/may-still-read.ts'
import type { AccountCaller } from '../caller.ts'
import type { RunReads } from './run-reads.ts'
import type { Starter } from './starter.ts'

/** How often to check whether a follower may still read while its run does not change. */
const REVIEW_MS = 2_000

type Texts = Pick<Starter, 'textOf' | 'furtherTextOf'>

interface Dependencies {
  accounts: AccountMailboxes
  clock: Clock
  runReads: RunReads
  starter: Texts
}

/** A followed run. */
export interface FollowedRun {
  /** The run at the time of the call. */
  row: RunRow
  /**
   * Emits `row` and then the run after each change, until it has ended, the account is suspended, the caller's key is
   * revoked, the service stops or the signal aborts. Errors with Unavailable.
   */
  changes(signal: AbortSignal): Observable<RunRow>
  /** Emits progress from 0 to 1 while this process works on the run, and nothing more in these cases. */
  progress: Observable<number>
  /** The same for the text so far, and then for each further piece. */
  pieces: Observable<string>
  /** The same for all of the text so far, each time that more has arrived. */
  texts: Observable<string>
}

/** Follows a run of the caller. */
export const followedRun = (dependencies: Dependencies, caller: AccountCaller, row: RunRow): FollowedRun => {
  const { runReads, starter, clock } = dependencies
  const mayRead = () => mayStillRead(dependencies, caller)
  const isOver = interval(REVIEW_MS, schedulerOf(clock)).pipe(
    exhaustMap(mayRead),
    filter(may => !may),
  )
  /** While it cannot be decided whether the caller may read, there is nothing. */
  const whileReadable = <Value>(values: Observable<Value>) =>
    values.pipe(
      takeWhileAsync(mayRead),
      catchError(() => EMPTY),
    )
  return {
    row,
    changes: signal => runReads.changes(row, signal).pipe(takeWhileAsync(mayRead), takeUntil(isOver)),
    progress: whileReadable(runReads.progress(row.runId)),
    pieces: whileReadable(textsOf(starter, row.runId)),
    texts: whileReadable(textsOf(starter, row.runId).pipe(scan((soFar, piece) => soFar + piece, ''))),
  }
}

/** Emits the text so far, and then each further piece, while this process works on the run. */
export const textsOf = (starter: Texts, runId: RunId): Observable<string> =>
  defer(() => {
    const soFar = starter.textOf(runId)
    const further = starter.furtherTextOf(runId)
    return soFar ? further.pipe(startWith(soFar)) : further
  })
