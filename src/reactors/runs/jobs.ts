import type { RunId } from '../../../schemas/primitives.ts'
import type { DueRow } from '../../../schemas/views.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import type { Failed, ProviderOutcome } from '../../ports/provider.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import type { RunToDo } from '../../services/runs/starter.ts'
import { delay, every } from '../../time/timers.ts'
import type { Artifacts } from './artifacts.ts'
import {
  BACK_OFF_MS,
  FollowedJob,
  JobOutcomes,
  type JobOutcomesDependencies,
  type JobRun,
  type RunEvents,
  type RunJob,
  type WatchedRun,
} from './job.ts'

/** How often to look for jobs whose poll is due. */
const TICK_MS = 100

/** Polls are begun for this long before other work is done: reading a job with a large input takes milliseconds. */
const SLICE_MS = 5

/** Polls to one provider at a time, in addition to submissions. Polls are quick, so no provider needs more. */
const POLLS_PER_PROVIDER = 128

interface Dependencies extends JobOutcomesDependencies {
  artifacts: Pick<Artifacts, 'arrivingFiles'>
  views: ViewStore
  /** Records the outcome of a run. Its job is no longer followed. */
  end(run: WatchedRun, outcome: ProviderOutcome): Promise<RunEvents>
  /** A run whose submission waits for the end of its job here. */
  runOf(runId: RunId): RunToDo | undefined
  /** Whether a run has not ended, by the log. */
  isOpen(run: RunJob): Promise<boolean>
  /** A run is no longer followed, whichever process ended it. */
  released(runId: RunId): void
}

/** Polls jobs at the pace of their providers until they end. */
export class Jobs {
  readonly #dependencies: Dependencies
  readonly #outcomes: JobOutcomes
  readonly #followed = new Map<RunId, FollowedJob>()
  readonly #polls = new Set<Promise<void>>()
  readonly #permits = new Semaphore({ each: POLLS_PER_PROVIDER })
  #stopPolling = () => {}
  #isTicking = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#outcomes = new JobOutcomes(dependencies)
  }

  get size(): number {
    return this.#followed.size
  }

  hasJob(runId: RunId): boolean {
    return this.#followed.get(runId)?.isVisit === false
  }

  start() {
    this.#stopPolling = every(this.#dependencies.clock, TICK_MS, () => this.#tick())
  }

  /** Leaves the jobs to the next process, except jobs whose end a client awaits here. */
  releaseJobs() {
    for (const [runId, followed] of this.#followed) {
      if (followed.ended) continue
      this.#followed.delete(runId)
      followed.interrupt?.()
    }
  }

  /** Ends the runs that are still followed with a failure, if possible, and polls no more. */
  async stop(failure: Failed) {
    for (const followed of this.#followed.values()) followed.end(failure)
    this.#stopPolling()
    await this.#pollDue()
    await Promise.all(this.#polls)
    // The views or the log did not respond, so another process has to end these runs.
    for (const { ended } of this.#followed.values()) ended?.([])
  }

  followJob(run: JobRun, pollAfterMs: number, ended?: FollowedJob['ended']) {
    const visit = this.#followed.get(run.runId)
    if (visit?.isVisit) Object.assign(visit, { isVisit: false, ended })
    else this.#add(run, { isVisit: false, ended }).pollAfter(pollAfterMs)
  }

  /**
   * Polls a job as soon as possible because its provider reports that it has ended. One that another process follows is
   * polled once: that process would find it out later.
   */
  pollJob(run: JobRun) {
    const followed = this.#followed.get(run.runId) ?? this.#add(run, { isVisit: true })
    followed.pollSoon()
  }

  /** Polls a job as soon as possible because the client has cancelled it, unless its provider already knows. */
  cancelJob(runId: RunId) {
    const followed = this.#followed.get(runId)
    if (followed && followed.cancelAtMs === undefined) followed.pollSoon()
  }

  #add(run: JobRun, options: Pick<FollowedJob, 'isVisit'> & Partial<Pick<FollowedJob, 'ended'>>): FollowedJob {
    const followed = new FollowedJob(this.#dependencies.clock, run, options)
    this.#followed.set(run.runId, followed)
    return followed
  }

  async #tick() {
    if (this.#isTicking) return
    this.#isTicking = true
    await this.#pollDue()
    this.#isTicking = false
  }

  /** Begins the polls that are due, the longest due first. Other work is done between two slices of them. */
  async #pollDue() {
    const { clock } = this.#dependencies
    const nowMs = clock.monotonicMs()
    const due = [...this.#followed].filter(([, { isPolling, pollAtMs }]) => !isPolling && pollAtMs <= nowMs)
    let sliceEndMs = nowMs + SLICE_MS
    for (const [runId, followed] of due.sort(([, a], [, b]) => a.pollAtMs - b.pollAtMs)) {
      if (clock.monotonicMs() >= sliceEndMs) {
        await delay(clock, 0)
        sliceEndMs = clock.monotonicMs() + SLICE_MS
      }
      if (this.#followed.get(runId) === followed) this.#begin(runId, followed)
    }
  }

  #begin(runId: RunId, followed: FollowedJob) {
    if (followed.isPolling) return
    // A job whose outcome is known needs no permit: its provider is not polled again.
    if (!followed.ending && !this.#permits.tryAcquire(followed.provider, followed.accountId)) return
    followed.hasPermit = !followed.ending
    followed.isPolling = true
    const poll = this.#pollUntilEnded(runId, followed)
      .catch(error => this.#dependencies.logger.error({ err: error, runId }, 'a job could not be polled; retrying'))
      .finally(() => {
        followed.isPolling = false
        if (followed.isAwaited) followed.pollSoon()
        else if (followed.isVisit) this.#followed.delete(runId)
        this.#releasePermit(followed)
        this.#polls.delete(poll)
      })
    this.#polls.add(poll)
  }

  /** A job that is ended during its poll needs another round, which records the outcome. */
  async #pollUntilEnded(runId: RunId, followed: FollowedJob): Promise<void> {
    await this.#poll(runId, followed)
    if (followed.ending && this.#followed.has(runId)) await this.#poll(runId, followed)
  }

  async #poll(runId: RunId, followed: FollowedJob): Promise<void> {
    // If anything fails, try again.
    followed.pollAfter(BACK_OFF_MS)
    const row = await this.#dependencies.views.get<DueRow>('due', runId)
    let events: RunEvents = []
    // Without the job's id, the views are still behind, or another process has ended the run.
    if (row?.task !== 'watch-run' || row.jobId === undefined) {
      if (await this.#dependencies.isOpen({ accountId: followed.accountId, runId })) return
    } else {
      const files = this.#dependencies.artifacts.arrivingFiles()
      // The log may not hold the input.
      const run = { ...row, ...heldParts(this.#dependencies.runOf(runId)) }
      try {
        const outcome = await this.#outcomes.pollOutcome(run, followed, files.open)
        // Recording the outcome may take long.
        this.#releasePermit(followed)
        if (!outcome || !this.#followed.has(runId)) return
        events = await this.#dependencies.end(run, outcome)
      } finally {
        void files.discard()
      }
    }
    this.#followed.delete(runId)
    this.#dependencies.released(runId)
    followed.ended?.(events)
  }

  #releasePermit(followed: FollowedJob) {
    if (followed.hasPermit) this.#permits.release(followed.provider, followed.accountId)
    followed.hasPermit = false
  }
}

const heldParts = (run: RunToDo | undefined) =>
  run && { input: run.input, ...(run.long && { long: run.long }), ...(run.store === false && { store: run.store }) }
