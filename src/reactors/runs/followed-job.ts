import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Failed } from '../../ports/provider.ts'

/** Providers may set the interval of polls within these limits, which protect the provider and the client. */
const MIN_POLL_MS = 100
const MAX_POLL_MS = 60_000

export type RunJob = Pick<WatchTask, 'accountId' | 'runId'>
export type JobRun = RunJob & Pick<WatchTask, 'upstream'>
export type RunEvents = Recorded<AccountEvent>[]

interface Options {
  /** Whether it is polled only once, because another process follows it. */
  isVisit: boolean
  /** Receives the events that ended the run; none if another process ended it. */
  ended?: ((events: RunEvents) => void) | undefined
}

/** What a process keeps in memory of a job. The rest is in the views, so that ten thousand jobs take little memory. */
export class FollowedJob {
  readonly accountId: AccountId
  readonly provider: string
  /** When the next poll is due, on the monotonic clock. */
  pollAtMs = 0
  /** When the run started. A start that lies ahead was recorded before a clock went back; the first poll counts. */
  startedAtMs = Number.POSITIVE_INFINITY
  /** Polls that failed in succession. */
  failures = 0
  isPolling = false
  /** Whether it is to be polled once more as soon as the poll in progress has ended. */
  isAwaited = false
  isVisit: boolean
  /** Whether it holds one of its provider's slots. */
  hasSlot = false
  /** When the provider was asked to stop the job, on the monotonic clock. */
  cancelAtMs: number | undefined
  /** The outcome of the run, whatever the provider still reports. */
  ending: Failed | undefined
  /** Ends the poll in progress. */
  interrupt: (() => void) | undefined
  ended: Options['ended']
  readonly #clock: Pick<Clock, 'monotonicMs'>

  constructor(clock: Pick<Clock, 'monotonicMs'>, { accountId, upstream }: JobRun, { isVisit, ended }: Options) {
    this.#clock = clock
    this.accountId = accountId
    this.provider = upstream.provider
    this.isVisit = isVisit
    this.ended = ended
  }

  /** The poll in progress may have been answered before something happened. */
  pollSoon() {
    this.pollAtMs = 0
    this.isAwaited = this.isPolling
  }

  pollAfter(waitMs: number) {
    this.pollAtMs = this.#clock.monotonicMs() + Math.min(Math.max(waitMs, MIN_POLL_MS), MAX_POLL_MS)
  }

  /** Ends the run with a failure at the next poll. */
  end(failure: Failed) {
    this.ending = failure
    this.pollAtMs = 0
    this.interrupt?.()
  }
}
