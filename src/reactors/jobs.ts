import pLimit, { type LimitFunction } from 'p-limit'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { RunId } from '../../schemas/primitives.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import type { DueRow, WatchTask } from '../../schemas/views.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Failed, Outcome, Provider, SubmittedJob } from '../ports/provider.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { broken, cancelled, timedOut } from './failures.ts'
import { CALL_TIMEOUT_MS, callWithin } from './provider-call.ts'

/** A provider may set the pace within these bounds: not so fast that it is flooded, nor so slow that a client wonders. */
const MIN_POLL_MS = 100
const MAX_POLL_MS = 60_000

/** How often it is looked which jobs are to be asked after. */
const TICK_MS = 100

/** How long to wait after a poll that was not answered; then twice as long each time. */
const BACK_OFF_MS = 1_000

/** How often a provider that does not stop a job is asked again: it may only not have been there. */
const CANCEL_AGAIN_MS = 30_000

/** Polls to one provider at a time, beside as many submissions: a poll is quick, and none needs more. */
const POLLS_PER_PROVIDER = 64

interface Parts {
  providers: Record<string, Provider>
  views: ViewStore
  clock: Clock
  logger: Logger
  /** Records how a run ended; then its job is no longer followed. */
  end(run: EndedRun, outcome: Outcome): Promise<RunEvents>
  /** A run is no longer followed, whoever ended it. */
  left(runId: RunId): void
  progressed(runId: RunId, progress: number): void
}

type RunEvents = Recorded<AccountEvent>[]

export type EndedRun = Pick<WatchTask, 'accountId' | 'runId' | 'mode'>

interface Followed {
  pollAtMs: number
  failures: number
  asking: boolean
  /** When the provider was asked to stop the job. */
  cancelAskedMs?: number
  /** What the run comes to, whatever the provider may still say. */
  ending?: Failed
  /** Ends the poll that is under way. */
  interrupt?: () => void
  /** Whoever waits for the end hears of the events that ended the run, if it was ended here. */
  ended: ((events: RunEvents) => void) | undefined
}

/**
 * The jobs that providers have taken, each asked after at its provider's pace. All that is kept of a job is when to ask; the rest
 * stands in the views, so that ten thousand jobs take little memory.
 */
export class Jobs {
  readonly #parts: Parts
  readonly #followed = new Map<RunId, Followed>()
  readonly #asking = new Set<Promise<void>>()
  readonly #limits = new Map<string, LimitFunction>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#followed.size
  }

  has(runId: RunId): boolean {
    return this.#followed.has(runId)
  }

  start() {
    this.#timer = setInterval(() => this.#askAfterDue(), TICK_MS)
  }

  /** Leaves the jobs to whoever comes next, but for those whose end somebody waits for here. */
  release() {
    for (const [runId, followed] of this.#followed) {
      if (followed.ended) continue
      this.#followed.delete(runId)
      followed.interrupt?.()
    }
  }

  /** Ends what is still followed with a failure, and asks after nothing any more. */
  async stop(failure: Failed) {
    for (const followed of this.#followed.values()) this.#end(followed, failure)
    this.#askAfterDue()
    clearInterval(this.#timer)
    await Promise.all(this.#asking)
  }

  follow(runId: RunId, pollAfterMs: number, ended?: Followed['ended']) {
    this.#followed.set(runId, { pollAtMs: this.#inMs(pollAfterMs), failures: 0, asking: false, ended })
  }

  /** Looks after a job as soon as can be, since it is wanted no more; once its provider was told so, that is enough. */
  hurry(runId: RunId) {
    const followed = this.#followed.get(runId)
    if (followed && followed.cancelAskedMs === undefined) followed.pollAtMs = 0
  }

  #askAfterDue() {
    const nowMs = performance.now()
    for (const [runId, followed] of this.#followed) {
      if (followed.asking || followed.pollAtMs > nowMs) continue
      followed.asking = true
      const asking = this.#askUntilEnded(runId, followed)
        .catch(error => this.#parts.logger.error({ err: error, runId }, 'a job could not be asked after now'))
        .finally(() => {
          followed.asking = false
          this.#asking.delete(asking)
        })
      this.#asking.add(asking)
    }
  }

  /** What ends while it is asked after is looked at once more, to record that. */
  async #askUntilEnded(runId: RunId, followed: Followed): Promise<void> {
    await this.#askAfter(runId, followed)
    if (followed.ending && this.#followed.has(runId)) await this.#askAfter(runId, followed)
  }

  async #askAfter(runId: RunId, followed: Followed): Promise<void> {
    // Should anything go wrong, it is tried again.
    followed.pollAtMs = this.#inMs(BACK_OFF_MS)
    const row = await this.#parts.views.get<DueRow>('due', runId)
    // Without a job's id the views are still behind.
    if (row?.task === 'watch-run' && row.jobId === undefined) return
    let events: RunEvents = []
    // Another process may have ended it.
    if (row?.task === 'watch-run') {
      const outcome = await this.#outcomeOf(row, followed)
      if (!outcome || !this.#followed.has(runId)) return
      events = await this.#parts.end(row, outcome)
    }
    this.#followed.delete(runId)
    this.#parts.left(runId)
    followed.ended?.(events)
  }

  /** Undefined while the job goes on. */
  async #outcomeOf(row: WatchTask, followed: Followed): Promise<Outcome | undefined> {
    const { runId, endpoint, input, jobId = '', startedAt, timeoutMs, provider: name } = row
    const { providers, clock, logger, progressed } = this.#parts
    const provider = providers[name]
    if (!provider?.poll) return broken
    const job = { runId, endpoint, input, jobId }
    const leftMs = Date.parse(startedAt) + timeoutMs - clock.nowMs()
    if (leftMs <= 0) {
      // The run ends now, whether the provider stops or not.
      this.#cancel(provider, job).catch(error => logger.warn({ err: error, runId }, 'a late job was not stopped'))
      return timedOut(timeoutMs)
    }
    if (row.cancelRequested) this.#askToStop(provider, job, followed)
    if (followed.ending) return followed.ending
    const stop = new AbortController()
    followed.interrupt = () => stop.abort()
    try {
      const poll = async (signal: AbortSignal) => provider.poll?.(job, signal)
      const answer = await this.#limitOf(name)(async () => {
        // By the time its turn comes, a job may be somebody else's, or have ended.
        return this.#followed.has(runId) && !followed.ending
          ? callWithin(Math.min(CALL_TIMEOUT_MS, leftMs), poll, stop.signal)
          : undefined
      })
      // A job may say of itself that it was given up.
      if (answer?.kind === 'failed' && row.cancelRequested) return cancelled
      if (answer?.kind !== 'working') return answer ?? followed.ending
      if (answer.progress !== undefined) progressed(runId, answer.progress)
      this.#askAgain(followed, Math.min(answer.pollAfterMs, leftMs))
      followed.failures = 0
    } catch (error) {
      if (!stop.signal.aborted) logger.warn({ err: error, runId }, 'a provider cannot be asked after a job')
      this.#askAgain(followed, Math.min(BACK_OFF_MS * 2 ** followed.failures++, leftMs))
    }
    return undefined
  }

  #askAgain(followed: Followed, waitMs: number) {
    if (!followed.ending) followed.pollAtMs = this.#inMs(waitMs)
  }

  /** The job is asked after meanwhile: it may end in its own way, and goes on where it cannot be stopped. */
  #askToStop(provider: Provider, job: SubmittedJob, followed: Followed) {
    const nowMs = performance.now()
    if (followed.cancelAskedMs !== undefined && nowMs - followed.cancelAskedMs < CANCEL_AGAIN_MS) return
    followed.cancelAskedMs = nowMs
    this.#cancel(provider, job).then(
      () => this.#end(followed, cancelled),
      error => this.#parts.logger.warn({ err: error, runId: job.runId }, 'a provider did not stop a job'),
    )
  }

  #end(followed: Followed, failure: Failed) {
    followed.ending = failure
    followed.pollAtMs = 0
    followed.interrupt?.()
  }

  async #cancel(provider: Provider, job: SubmittedJob): Promise<void> {
    if (!provider.cancel) throw new Error('the provider cannot stop its jobs')
    await callWithin(CALL_TIMEOUT_MS, async signal => provider.cancel?.(job, signal))
  }

  #limitOf(provider: string): LimitFunction {
    let limit = this.#limits.get(provider)
    if (!limit) {
      limit = pLimit(POLLS_PER_PROVIDER)
      this.#limits.set(provider, limit)
    }
    return limit
  }

  #inMs(waitMs: number): number {
    return performance.now() + Math.min(Math.max(waitMs, MIN_POLL_MS), MAX_POLL_MS)
  }
}
