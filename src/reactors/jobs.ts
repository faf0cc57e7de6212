import type { AccountEvent } from '../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import type { DueRow, WatchTask } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { Failed, Provider, ProviderOutcome, SubmittedJob } from '../ports/provider.ts'
import type { ViewStore } from '../ports/view-store.ts'
import type { Routes } from '../services/providers/routes.ts'
import { delay } from '../time/delay.ts'
import { every } from '../time/every.ts'
import { broken, cancelled } from './failures.ts'
import { CALL_TIMEOUT_MS, callProvider } from './provider-call.ts'
import { readRunInput } from './run-input.ts'
import { Slots } from './slots.ts'

/** Providers may set the interval of polls within these limits, which protect the provider and the client. */
const MIN_POLL_MS = 100
const MAX_POLL_MS = 60_000

/** How often to look for jobs whose poll is due. */
const TICK_MS = 100

/** Polls are begun for this long before other work is done: reading a job with a large input takes milliseconds. */
const SLICE_MS = 5

/** How long to wait after a failed poll. The wait doubles each time. */
const BACK_OFF_MS = 1_000

/** How long to wait before asking again to stop a job: the provider may only have been unavailable. */
const CANCEL_AGAIN_MS = 30_000

/** Polls to one provider at a time, in addition to submissions. Polls are quick, so no provider needs more. */
const POLLS_PER_PROVIDER = 128

interface Parts {
  routes: Pick<Routes, 'accepted'>
  log: Pick<EventLog, 'readEvent'>
  views: ViewStore
  clock: Clock
  logger: Logger
  /** Records the outcome of a run. Its job is no longer followed. */
  end(run: WatchTask, outcome: ProviderOutcome): Promise<RunEvents>
  /** Whether a run has not ended, by the log. */
  isOpen(run: RunJob): Promise<boolean>
  /** The outcome of a run whose time limit has ended. */
  timedOut(run: WatchTask): Failed
  /** A run is no longer followed, whichever process ended it. */
  released(runId: RunId): void
  progressed(runId: RunId, progress: number): void
}

type RunEvents = Recorded<AccountEvent>[]

/** A run that ends. One that waits in the queue has not started. */
export type EndedRun = Pick<WatchTask, 'accountId' | 'runId' | 'mode' | 'endpoint' | 'timeoutMs'> &
  Partial<Pick<WatchTask, 'startedAt'>>
export type RunJob = Pick<WatchTask, 'accountId' | 'runId'>
export type JobRun = RunJob & Pick<WatchTask, 'upstream'>

interface Followed {
  accountId: AccountId
  provider: string
  /** When the run started. A start that lies ahead was recorded before a clock went back; the first poll counts. */
  startedAtMs: number
  pollAtMs: number
  failures: number
  isPolling: boolean
  /** Whether it is to be polled once more as soon as the poll in progress has ended. */
  isAwaited: boolean
  /** Whether it is polled only once, because another process follows it. */
  isVisit: boolean
  /** Whether it holds one of its provider's slots. */
  hasSlot: boolean
  /** When the provider was asked to stop the job, on the monotonic clock. */
  cancelAtMs?: number
  /** The outcome of the run, whatever the provider still reports. */
  ending?: Failed
  /** Ends the poll in progress. */
  interrupt?: () => void
  /** Receives the events that ended the run; none if another process ended it. */
  ended: ((events: RunEvents) => void) | undefined
}

/**
 * Polls jobs at the pace of their providers. Only the times of polls are kept in memory; the rest is read from the
 * views, so that ten thousand jobs take little memory.
 */
export class Jobs {
  readonly #parts: Parts
  readonly #followed = new Map<RunId, Followed>()
  readonly #polls = new Set<Promise<void>>()
  readonly #slots = new Slots({ each: POLLS_PER_PROVIDER })
  #stopPolling = () => {}
  #isTicking = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#followed.size
  }

  has(runId: RunId): boolean {
    return this.#followed.get(runId)?.isVisit === false
  }

  start() {
    this.#stopPolling = every(this.#parts.clock, TICK_MS, () => this.#tick())
  }

  /** Leaves the jobs to the next process, except those whose end a client awaits here. */
  release() {
    for (const [runId, followed] of this.#followed) {
      if (followed.ended) continue
      this.#followed.delete(runId)
      followed.interrupt?.()
    }
  }

  /** Ends the runs that are still followed with a failure, and polls no more. */
  async stop(failure: Failed) {
    for (const followed of this.#followed.values()) this.#end(followed, failure)
    this.#stopPolling()
    await this.#pollDue()
    await Promise.all(this.#polls)
  }

  follow(run: JobRun, pollAfterMs: number, ended?: Followed['ended']) {
    const visit = this.#followed.get(run.runId)
    if (visit?.isVisit) Object.assign(visit, { isVisit: false, ended })
    else this.#add(run, this.#inMs(pollAfterMs), { isVisit: false, ended })
  }

  /**
   * Polls a job as soon as possible because its provider reports that it has ended. One that another process follows is
   * polled once: that process would find it out later.
   */
  pollNow(run: JobRun) {
    const followed = this.#followed.get(run.runId)
    if (followed) this.#pollSoon(followed)
    else this.#add(run, 0, { isVisit: true, ended: undefined })
  }

  /** Polls a job as soon as possible because the client has cancelled it, unless its provider already knows. */
  cancel(runId: RunId) {
    const followed = this.#followed.get(runId)
    if (followed && followed.cancelAtMs === undefined) this.#pollSoon(followed)
  }

  #add(
    { accountId, runId, upstream: { provider } }: JobRun,
    pollAtMs: number,
    options: Pick<Followed, 'isVisit' | 'ended'>,
  ) {
    const idle = {
      startedAtMs: Number.POSITIVE_INFINITY,
      failures: 0,
      isPolling: false,
      isAwaited: false,
      hasSlot: false,
    }
    this.#followed.set(runId, { accountId, provider, pollAtMs, ...idle, ...options })
  }

  /** The poll in progress may have been answered before something happened. */
  #pollSoon(followed: Followed) {
    followed.pollAtMs = 0
    followed.isAwaited = followed.isPolling
  }

  async #tick() {
    if (this.#isTicking) return
    this.#isTicking = true
    await this.#pollDue()
    this.#isTicking = false
  }

  /** Begins the polls that are due, the longest due first. Other work is done between two slices of them. */
  async #pollDue() {
    const { clock } = this.#parts
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

  #begin(runId: RunId, followed: Followed) {
    if (followed.isPolling) return
    // A job whose outcome is known needs no slot: its provider is not polled again.
    if (!followed.ending && !this.#slots.take(followed.provider, followed.accountId)) return
    followed.hasSlot = !followed.ending
    followed.isPolling = true
    const poll = this.#pollUntilEnded(runId, followed)
      .catch(error => this.#parts.logger.error({ err: error, runId }, 'a job could not be polled now'))
      .finally(() => {
        followed.isPolling = false
        if (followed.isAwaited) this.#pollSoon(followed)
        else if (followed.isVisit) this.#followed.delete(runId)
        this.#freeSlot(followed)
        this.#polls.delete(poll)
      })
    this.#polls.add(poll)
  }

  /** A job that is ended during its poll needs another round, which records the outcome. */
  async #pollUntilEnded(runId: RunId, followed: Followed): Promise<void> {
    await this.#poll(runId, followed)
    if (followed.ending && this.#followed.has(runId)) await this.#poll(runId, followed)
  }

  async #poll(runId: RunId, followed: Followed): Promise<void> {
    // If anything fails, try again.
    followed.pollAtMs = this.#inMs(BACK_OFF_MS)
    const row = await this.#parts.views.get<DueRow>('due', runId)
    let events: RunEvents = []
    // Without the job's id, the views are still behind, or another process has ended the run.
    if (row?.task !== 'watch-run' || row.jobId === undefined) {
      if (await this.#parts.isOpen({ accountId: followed.accountId, runId })) return
    } else {
      const outcome = await this.#outcomeOf(row, followed)
      if (!outcome || !this.#followed.has(runId)) return
      events = await this.#parts.end(row, outcome)
    }
    this.#followed.delete(runId)
    this.#parts.released(runId)
    followed.ended?.(events)
  }

  /** Undefined while the job continues. */
  async #outcomeOf(row: WatchTask, followed: Followed): Promise<ProviderOutcome | undefined> {
    const { runId, accountId, endpoint, jobId = '', startedAt, timeoutMs } = row
    const { routes, log, clock, logger, progressed } = this.#parts
    const accepted = routes.accepted(endpoint, row.upstream)
    const provider = accepted?.account.client
    if (!accepted || !provider?.poll) return broken
    const { upstream } = accepted
    const job = { runId, accountId, endpoint, jobId, upstream, input: () => readRunInput(log, row) }
    const nowMs = clock.nowMs()
    followed.startedAtMs = Math.min(followed.startedAtMs, Date.parse(startedAt), nowMs)
    const leftMs = followed.startedAtMs + timeoutMs - nowMs
    if (leftMs <= 0) {
      const failure = this.#parts.timedOut(row)
      // The run ends now, whether the provider stops or not.
      this.#cancelJob(provider, job).catch(error => logger.warn({ err: error, runId }, 'a late job was not stopped'))
      return failure
    }
    if (row.cancelRequested) this.#requestStop(provider, job, followed)
    if (followed.ending) return followed.ending
    const stop = new AbortController()
    followed.interrupt = () => stop.abort()
    try {
      const poll = async (signal: AbortSignal) => provider.poll?.(job, signal)
      const answer = await callProvider(clock, Math.min(CALL_TIMEOUT_MS, leftMs), poll, stop.signal)
      // The job may report its own cancellation.
      if (answer?.kind === 'failed' && row.cancelRequested) return cancelled
      if (answer?.kind !== 'working') return answer ?? followed.ending
      if (answer.progress !== undefined) progressed(runId, answer.progress)
      this.#pollAgain(followed, Math.min(answer.pollAfterMs, leftMs))
      followed.failures = 0
    } catch (error) {
      if (!stop.signal.aborted) logger.warn({ err: error, runId }, 'a poll failed')
      this.#pollAgain(followed, Math.min(BACK_OFF_MS * 2 ** followed.failures++, leftMs))
    } finally {
      // Recording the outcome may take long.
      this.#freeSlot(followed)
    }
    return undefined
  }

  #pollAgain(followed: Followed, waitMs: number) {
    if (!followed.ending) followed.pollAtMs = this.#inMs(waitMs)
  }

  /** Polls continue meanwhile: the job may end by itself, and continues if it cannot be stopped. */
  #requestStop(provider: Provider, job: SubmittedJob, followed: Followed) {
    const nowMs = this.#parts.clock.monotonicMs()
    if (followed.cancelAtMs !== undefined && nowMs - followed.cancelAtMs < CANCEL_AGAIN_MS) return
    followed.cancelAtMs = nowMs
    this.#cancelJob(provider, job).then(
      () => this.#end(followed, cancelled),
      error => this.#parts.logger.warn({ err: error, runId: job.runId }, 'a provider did not stop a job'),
    )
  }

  #end(followed: Followed, failure: Failed) {
    followed.ending = failure
    followed.pollAtMs = 0
    followed.interrupt?.()
  }

  async #cancelJob(provider: Provider, job: SubmittedJob): Promise<void> {
    if (!provider.cancel) throw new Error('the provider cannot stop its jobs')
    await callProvider(this.#parts.clock, CALL_TIMEOUT_MS, async signal => provider.cancel?.(job, signal))
  }

  #freeSlot(followed: Followed) {
    if (followed.hasSlot) this.#slots.free(followed.provider, followed.accountId)
    followed.hasSlot = false
  }

  #inMs(waitMs: number): number {
    return this.#parts.clock.monotonicMs() + Math.min(Math.max(waitMs, MIN_POLL_MS), MAX_POLL_MS)
  }
}
