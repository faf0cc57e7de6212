import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Failed, OpenFile, Provider, ProviderOutcome, SubmittedJob } from '../../ports/provider.ts'
import type { Routes } from '../../services/providers/routes.ts'
import { readRunInput } from '../../services/runs/run-inputs.ts'
import type { RunToDo } from '../../services/runs/starter.ts'
import { broken, CALL_TIMEOUT_MS, callProvider, cancelled } from './provider-calls.ts'

/** Providers may set the interval of polls within these limits, which protect the provider and the client. */
const MIN_POLL_MS = 100
const MAX_POLL_MS = 60_000

export type RunJob = Pick<WatchTask, 'accountId' | 'runId'>
export type JobRun = RunJob & Pick<WatchTask, 'upstream'>
/** A started run, with what its process holds of it. */
export type WatchedRun = WatchTask & Partial<Pick<RunToDo, 'input' | 'long' | 'store'>>
export type RunEvents = Recorded<AccountEvent>[]

interface Options {
  /** Whether it is polled only once, because another process follows it. */
  isVisit: boolean
  /** Receives the events that ended the run; none if another process ended it. */
  ended?: ((events: RunEvents) => void) | undefined
}

/**
 * The part of a job that a process keeps in memory. The views hold everything else, so that ten thousand jobs take
 * little memory.
 */
export class FollowedJob {
  readonly accountId: AccountId
  readonly provider: string
  /** When the next poll is due, on the monotonic clock. */
  pollAtMs = 0
  /** When the run started. A start in the future was recorded before a clock went back; the first poll counts. */
  startedAtMs = Number.POSITIVE_INFINITY
  /** Polls that failed in succession. */
  failures = 0
  isPolling = false
  /** Whether it is to be polled once more as soon as the poll in progress has ended. */
  isAwaited = false
  isVisit: boolean
  /** Whether it holds one of its provider's permits. */
  hasPermit = false
  /** When the provider was asked to stop the job, on the monotonic clock. */
  cancelAtMs: number | undefined
  /** The outcome of the run, even if the provider reports another. */
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

/** How long to wait after a failed poll. The wait doubles each time. */
export const BACK_OFF_MS = 1_000

/** How long to wait before asking again to stop a job: the provider may only have been unavailable. */
const CANCEL_AGAIN_MS = 30_000

export interface JobOutcomesDependencies {
  routes: Pick<Routes, 'findAcceptedRoute'>
  log: Pick<EventLog, 'readEvent'>
  clock: Clock
  logger: Logger
  /** The outcome of a run whose time limit has ended. */
  timedOut(run: WatchTask): Failed
  progressed(runId: RunId, progress: number): void
}

/** Polls providers for the outcomes of jobs, and asks them to stop jobs that are cancelled or late. */
export class JobOutcomes {
  readonly #dependencies: JobOutcomesDependencies

  constructor(dependencies: JobOutcomesDependencies) {
    this.#dependencies = dependencies
  }

  /** Undefined while the job continues; the job then knows when to poll again. */
  async pollOutcome(row: WatchedRun, followed: FollowedJob, openFile: OpenFile): Promise<ProviderOutcome | undefined> {
    const { runId, accountId, endpoint, jobId = '', startedAt, timeoutMs } = row
    const { routes, log, clock, logger } = this.#dependencies
    const accepted = routes.findAcceptedRoute(endpoint, row.upstream)
    const provider = accepted?.account.client
    if (!accepted || !provider?.poll) return broken
    const { upstream } = accepted
    const job = {
      runId,
      accountId,
      endpoint,
      jobId,
      upstream,
      input: async () => row.input ?? readRunInput(log, row),
      openFile,
    }
    const nowMs = clock.nowMs()
    followed.startedAtMs = Math.min(followed.startedAtMs, Date.parse(startedAt), nowMs)
    const leftMs = followed.startedAtMs + timeoutMs - nowMs
    if (leftMs <= 0) {
      const failure = this.#dependencies.timedOut(row)
      // The run ends now, whether the provider stops or not.
      this.#cancel(provider, job).catch(error =>
        logger.warn({ err: error, runId }, 'a job past its time limit could not be cancelled at the provider'),
      )
      return failure
    }
    if (row.cancelRequested) this.#requestStop(provider, job, followed)
    return followed.ending ?? this.#poll(row, provider, job, followed, leftMs)
  }

  async #poll(
    { runId, cancelRequested }: WatchTask,
    provider: Provider,
    job: SubmittedJob,
    followed: FollowedJob,
    leftMs: number,
  ): Promise<ProviderOutcome | undefined> {
    const { clock, logger, progressed } = this.#dependencies
    const stop = new AbortController()
    followed.interrupt = () => stop.abort()
    const pollAgain = (waitMs: number) => {
      if (!followed.ending) followed.pollAfter(Math.min(waitMs, leftMs))
    }
    try {
      const poll = async (signal: AbortSignal) => provider.poll?.(job, signal)
      const answer = await callProvider(clock, Math.min(CALL_TIMEOUT_MS, leftMs), poll, stop.signal)
      // The job may report its own cancellation.
      if (answer?.kind === 'failed' && cancelRequested) return cancelled
      if (answer?.kind !== 'working') return answer ?? followed.ending
      if (answer.progress !== undefined) progressed(runId, answer.progress)
      pollAgain(answer.pollAfterMs)
      if (followed.failures > 0) logger.info({ runId }, 'a job can be polled again')
      followed.failures = 0
    } catch (error) {
      if (!stop.signal.aborted && followed.failures === 0)
        logger.warn({ err: error, runId }, 'a job could not be polled; retrying')
      pollAgain(BACK_OFF_MS * 2 ** followed.failures++)
    }
    return undefined
  }

  /** Polls continue meanwhile: the job may end by itself, and continues if it cannot be stopped. */
  #requestStop(provider: Provider, job: SubmittedJob, followed: FollowedJob) {
    const { clock, logger } = this.#dependencies
    const nowMs = clock.monotonicMs()
    if (followed.cancelAtMs !== undefined && nowMs - followed.cancelAtMs < CANCEL_AGAIN_MS) return
    followed.cancelAtMs = nowMs
    this.#cancel(provider, job).then(
      () => followed.end(cancelled),
      error => logger.warn({ err: error, runId: job.runId }, 'a job could not be cancelled at the provider'),
    )
  }

  async #cancel(provider: Provider, job: SubmittedJob): Promise<void> {
    if (!provider.cancel) throw new Error('the provider cannot cancel jobs')
    await callProvider(this.#dependencies.clock, CALL_TIMEOUT_MS, async signal => provider.cancel?.(job, signal))
  }
}
