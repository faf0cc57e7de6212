import { setMaxListeners } from 'node:events'
import { defer, finalize, type Observable, Subject } from 'rxjs'
import type { AccountEvent, Upstream } from '../../../schemas/account-events.ts'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Failed, ProviderOutcome } from '../../ports/provider.ts'
import type { Random } from '../../ports/random.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import type { CircuitBreakers } from '../../services/providers/circuit-breakers.ts'
import { type ProviderRoute, type Routes, upstreamOf } from '../../services/providers/routes.ts'
import type { RunProgress } from '../../services/runs/run-reads.ts'
import type { RunToDo, Starter } from '../../services/runs/starter.ts'
import type { Reads } from '../../services/views/reads.ts'
import { withinTime } from '../../time/timers.ts'
import { Leases } from '../leases.ts'
import type { Artifacts } from './artifacts.ts'
import type { InputSources } from './input-sources.ts'
import type { JobRun, RunJob } from './job.ts'
import { Jobs } from './jobs.ts'
import { type BilledRun, type EndedRun, mayBeTakenOver, Outcomes } from './outcomes.ts'
import { inputLost, sourceTooLate, stopped, timedOut } from './provider-calls.ts'
import type { ProviderPermits } from './provider-permits.ts'
import { Submission } from './submission.ts'

/** Jobs that one process follows at a time. More would take too much of its time. */
const MAX_JOBS = 50_000

/** How long a stop waits for work in progress before it refunds the credits instead. */
const STOP_GRACE_MS = 5_000

interface Dependencies {
  routes: Routes
  breakers: CircuitBreakers
  accounts: AccountMailboxes
  log: EventLog
  reads: Reads
  views: ViewStore
  artifacts: Artifacts
  clock: Clock
  random: Random
  logger: Logger
  permits: ProviderPermits
  sources: InputSources
  leaseMs?: number | undefined
}

interface Working {
  submission: Submission
  done: Promise<Recorded<AccountEvent>[]>
}

/** The runs that this process works on: submits them to providers, follows their jobs and records their outcomes. */
export class ActiveRuns implements Starter {
  readonly leases: Leases<RunId>
  readonly #dependencies: Dependencies
  readonly #outcomes: Outcomes
  readonly #jobs: Jobs
  readonly #working = new Map<RunId, Working>()
  readonly #progress = new Subject<RunProgress>()
  /** Of the runs whose text somebody reads. */
  readonly #texts = new Map<RunId, Subject<string>>()
  readonly #lastCall = new AbortController()
  /** Only processes with the reactor role work on runs; others leave them in the queue. */
  #isAccepting = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    // Each result that is being stored listens, and there are as many as permits.
    setMaxListeners(Number.POSITIVE_INFINITY, this.#lastCall.signal)
    this.leases = new Leases(dependencies, 'run')
    this.#outcomes = new Outcomes({
      ...dependencies,
      mayRetry: () => this.#isAccepting,
      lastCall: this.#lastCall.signal,
    })
    this.#jobs = new Jobs({
      ...dependencies,
      end: (run, outcome) => this.endRun(run, outcome, run.upstream),
      runOf: runId => this.#working.get(runId)?.submission.run,
      isOpen: ({ runId, accountId }) => this.#isOpen(runId, accountId),
      timedOut: run => this.#timedOut(run),
      released: runId => this.leases.releaseLease(runId),
      progressed: (runId, progress) => this.#progress.next({ runId, progress }),
    })
  }

  /** The progress of the runs that this process works on. */
  get progress(): Observable<RunProgress> {
    return this.#progress
  }

  /** The text of a streaming run so far; undefined unless this process works on the run. */
  textOf(runId: RunId): string | undefined {
    return this.#working.get(runId)?.submission.text
  }

  /** Each piece of the text of a streaming run that arrives from now on, whether or not the run has begun. */
  furtherTextOf(runId: RunId): Observable<string> {
    return defer(() => {
      const texts = this.#texts.get(runId) ?? new Subject()
      this.#texts.set(runId, texts)
      return texts.pipe(finalize(() => texts.observed || this.#texts.delete(runId)))
    })
  }

  start() {
    this.#isAccepting = true
    this.leases.start()
    this.#jobs.start()
  }

  /** Accepts no more runs. */
  close() {
    this.#isAccepting = false
  }

  /**
   * Waits a while for runs in progress. Runs that do not end in time fail as interrupted and are refunded. Jobs at
   * providers continue, and the next process follows them. Call `close` first.
   */
  async stop() {
    this.#jobs.releaseJobs()
    const all = Promise.all([...this.#working.values()].map(work => work.done))
    await withinTime(this.#dependencies.clock, all, STOP_GRACE_MS, () => undefined)
    for (const { submission } of this.#working.values()) submission.stop()
    this.#lastCall.abort()
    await this.#jobs.stop(stopped)
    await all
    await this.leases.stop()
  }

  hasRun(runId: RunId): boolean {
    return this.#working.has(runId) || this.#jobs.hasJob(runId)
  }

  reserveRoute(run: Pick<RunToDo, 'endpoint' | 'input' | 'accountId' | 'livemode'>): ProviderRoute | undefined {
    if (!this.#hasRoom) return undefined
    const { routes, permits } = this.#dependencies
    const [route] = routes.ofMode(run).findRoutes(run.endpoint, run.input)
    if (!route || !permits.acquirePermit(route.account.provider, run.accountId)) return undefined
    routes.passTurn(route)
    return route
  }

  /** The same for a run whose input is not read yet. The permit is exchanged if another provider takes the run. */
  reserveProvider(run: Pick<RunToDo, 'endpoint' | 'accountId' | 'livemode'>): string | undefined {
    if (!this.#hasRoom) return undefined
    const { routes, permits } = this.#dependencies
    for (const provider of routes.ofMode(run).availableProviders(run.endpoint))
      return permits.acquirePermit(provider, run.accountId) ? provider : undefined
    return undefined
  }

  get #hasRoom(): boolean {
    return this.#isAccepting && this.#jobs.size < MAX_JOBS
  }

  releaseRoute({ account: { provider } }: ProviderRoute, accountId: AccountId) {
    this.#dependencies.permits.releasePermit(provider, accountId)
  }

  /** Returns the permit and the lease of a run that cannot start now. */
  declineRun({ accountId, runId }: RunJob, provider: string) {
    this.#dependencies.permits.declinePermit(provider, accountId)
    this.leases.releaseLease(runId)
  }

  waitMs(run: Pick<RunToDo, 'endpoint' | 'input' | 'livemode'>): number | undefined {
    return this.#isAccepting ? this.#dependencies.routes.ofMode(run).waitMs(run.endpoint, run.input) : undefined
  }

  beginRun(run: RunToDo, route: ProviderRoute): Promise<Recorded<AccountEvent>[]> {
    this.leases.holdLease(run.runId)
    return this.submitRun(run, route.account.provider, route)
  }

  /**
   * Submits a run that has a permit of a provider, which need not be the one that takes it. `chosen` is tried first.
   * Resolves to the events that ended the run, or to none if it has not ended. Does nothing with a run that this
   * process works on already: it may have counted as lost while the log was slow to confirm its start.
   */
  submitRun(run: RunToDo, reserved: string, chosen?: ProviderRoute): Promise<Recorded<AccountEvent>[]> {
    const { runId, accountId } = run
    const { permits, logger } = this.#dependencies
    if (this.hasRun(runId)) {
      permits.releasePermit(reserved, accountId)
      return this.#working.get(runId)?.done ?? Promise.resolve([])
    }
    permits.assignPermit(runId, reserved, accountId)
    const files = this.#dependencies.artifacts.arrivingFiles()
    const submission = new Submission(run, chosen, {
      ...this.#dependencies,
      openFile: files.open,
      onText: text => this.#texts.get(runId)?.next(text),
      timedOut: late => this.#timedOut(late),
    })
    const done = this.#process(submission)
      .catch(error => {
        logger.error({ err: error, runId }, 'a run could not be ended')
        return []
      })
      .finally(() => {
        void files.discard()
        this.#working.delete(runId)
        if (!this.#jobs.hasJob(runId)) this.leases.releaseLease(runId)
        permits.releaseRun(runId)
      })
    this.#working.set(runId, { submission, done })
    return done
  }

  /** Follows the job of a run that another process submitted. */
  followJob(run: JobRun) {
    this.#jobs.followJob(run, 0)
  }

  /** Polls a job whose provider reports that it has ended, whichever process follows it. */
  pollJob(run: JobRun) {
    if (this.#hasRoom) this.#jobs.pollJob(run)
  }

  /** Cancels a run if this process works on it. */
  cancelRun(runId: RunId) {
    this.#working.get(runId)?.submission.cancel()
    this.#jobs.cancelJob(runId)
  }

  /** Records the outcome of a run. Resolves to the events that ended it, or to none. */
  endRun(run: EndedRun & BilledRun, outcome: ProviderOutcome, upstream?: Upstream): Promise<Recorded<AccountEvent>[]> {
    return this.#outcomes.endRun(run, outcome, upstream)
  }

  /**
   * False if another process works on the run, or it has been ended as lost. While the views are unavailable, no
   * process can take it over.
   */
  async #mayBegin({ runId, accountId }: RunToDo): Promise<boolean> {
    const isLeased = await this.leases.takeLeases([runId]).then(
      taken => taken.has(runId),
      () => true,
    )
    return isLeased && this.#isOpen(runId, accountId)
  }

  async #isOpen(runId: RunId, accountId: AccountId): Promise<boolean> {
    return (await this.#dependencies.accounts.currentState(accountId)).openRuns.has(runId)
  }

  /** False if the object store is unavailable. */
  async #storeInput({ runId, long = [] }: RunToDo): Promise<boolean> {
    const { artifacts, logger } = this.#dependencies
    try {
      await artifacts.storeInput(long)
      // They are in the input, too.
      long.length = 0
      return true
    } catch (error) {
      logger.error({ err: error, runId }, 'a long input could not be stored')
      return false
    }
  }

  #timedOut({ runId, timeoutMs }: Pick<WatchTask, 'runId' | 'timeoutMs'>): Failed {
    const missing = this.#dependencies.sources.missing(runId)
    return missing ? sourceTooLate(missing, timeoutMs) : timedOut(timeoutMs)
  }

  async #process(submission: Submission): Promise<Recorded<AccountEvent>[]> {
    const { run } = submission
    const { accountId, runId, mode } = run
    // The log was slow to confirm its start, so it may soon count as lost, here and in other processes.
    if (mayBeTakenOver(run, this.#dependencies.clock) && !(await this.#mayBegin(run))) return []
    if (run.long && !(await this.#storeInput(run))) return this.#outcomes.endRun(run, inputLost)
    const answer = await submission.answer()
    if (!answer) return []
    const upstream = submission.route && upstreamOf(submission.route)
    if (answer.kind !== 'submitted' || !upstream)
      return this.#outcomes.endRun(run, answer as ProviderOutcome, upstream, submission)
    const { attempts } = submission
    await this.#outcomes.recordCommand(accountId, { type: 'SubmitRun', runId, jobId: answer.jobId, upstream, attempts })
    if (mode === 'sync') {
      if (this.#lastCall.signal.aborted) return this.endRun(run, stopped, upstream)
      return new Promise(ended => this.#jobs.followJob({ ...run, upstream }, answer.pollAfterMs, ended))
    }
    // A job that is accepted while the service stops is left to the next process.
    if (this.#isAccepting) this.#jobs.followJob({ ...run, upstream }, answer.pollAfterMs)
    return []
  }
}
