import { setTimeout as delay } from 'node:timers/promises'
import { type Observable, Subject } from 'rxjs'
import { queues, WATCH_AFTER_MS } from '../../projections/due.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { RunId } from '../../schemas/primitives.ts'
import type { Recorded } from '../../schemas/recorded.ts'
import type { StartTask, WatchTask } from '../../schemas/views.ts'
import type { AccountCommand } from '../domain/account/commands.ts'
import type { Changes } from '../engine/views/progress.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Failed, Outcome, Provider } from '../ports/provider.ts'
import type { ViewStore } from '../ports/view-store.ts'
import type { Accounts } from '../services/accounts/accounts.ts'
import type { RunProgress } from '../services/runs/run-reads.ts'
import type { RunToDo, Starter } from '../services/runs/runs.ts'
import type { Artifacts } from './artifacts.ts'
import { DueLoop } from './due-loop.ts'
import { cancelled, lost, stopped } from './failures.ts'
import { type EndedRun, Jobs } from './jobs.ts'
import { Leases } from './leases.ts'
import { onceAvailable } from './once-available.ts'
import { Submission } from './submission.ts'

/**
 * Calls that one process makes to one provider at a time: more than most vendors let one customer have at once. Runs
 * beyond wait in the queue, on the log.
 */
const SLOTS_PER_PROVIDER = 64

/** Jobs that one process follows at a time. With more, looking after them would take too much of its time. */
const MAX_JOBS = 50_000

/** How often queued runs are looked for when nothing says that there are some, and how often lost ones are. */
const START_POLL_MS = 500
const WATCH_POLL_MS = 3000

/** How long a stop waits for work in progress before it gives the credits back instead. */
const STOP_GRACE_MS = 5_000

/** What an event holds of a provider's words. */
const MAX_MESSAGE_LENGTH = 1000

interface Parts {
  providers: Record<string, Provider>
  accounts: Accounts
  views: ViewStore
  artifacts: Artifacts
  clock: Clock
  logger: Logger
}

interface Working {
  submission: Submission
  done: Promise<unknown>
}

/** Hands runs to providers and records what comes of them. */
export class RunsReactor implements Starter {
  readonly #parts: Parts
  readonly #starts: DueLoop<StartTask>
  readonly #lost: DueLoop<WatchTask>
  readonly #cancels: DueLoop<WatchTask>
  readonly #leases: Leases<RunId>
  readonly #jobs: Jobs
  readonly #working = new Map<RunId, Working>()
  readonly #taken = new Map<string, number>()
  readonly #progress = new Subject<RunProgress>()
  /** Only a process that has the role works on runs; the others leave them in the queue. */
  #started = false
  #stopping = false
  /** Aborts when a stop waits no longer for results to be stored. */
  readonly #lastCall = new AbortController()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#leases = new Leases(parts, 'run')
    this.#jobs = new Jobs({
      ...parts,
      end: (run, outcome) => this.#end(run, outcome),
      left: runId => this.#leases.release(runId),
      progressed: (runId, progress) => this.#progress.next({ runId, progress }),
    })
    const start = { queues: queues.start, pollMs: START_POLL_MS, take: (rows: StartTask[]) => this.#start(rows) }
    const watch = { queues: queues.watch, pollMs: WATCH_POLL_MS, take: (rows: WatchTask[]) => this.#watch(rows) }
    this.#starts = new DueLoop(parts, start)
    this.#lost = new DueLoop(parts, watch)
    this.#cancels = new DueLoop(parts, { ...watch, queues: queues.cancel })
  }

  /** How far the runs are that this process works on. */
  get progress(): Observable<RunProgress> {
    return this.#progress
  }

  start(changes: Observable<Changes>) {
    this.#started = true
    this.#starts.start(changes)
    this.#lost.start()
    this.#cancels.start(changes)
    this.#leases.start()
    this.#jobs.start()
  }

  /**
   * Lets work in progress end for a while; what is not done then fails as interrupted and is refunded. Jobs that
   * providers have taken go on without us, and are followed by the next process.
   */
  async stop() {
    this.#stopping = true
    await Promise.all([this.#starts.stop(), this.#lost.stop(), this.#cancels.stop()])
    this.#jobs.release()
    const all = Promise.all([...this.#working.values()].map(work => work.done))
    await Promise.race([all, delay(STOP_GRACE_MS, undefined, { ref: false })])
    for (const { submission } of this.#working.values()) submission.stop()
    this.#lastCall.abort()
    await this.#jobs.stop(stopped)
    await all
    await this.#leases.stop()
  }

  reserve(provider: string): boolean {
    const taken = this.#taken.get(provider) ?? 0
    if (!this.#started || this.#stopping || taken >= SLOTS_PER_PROVIDER || this.#jobs.size >= MAX_JOBS) return false
    this.#taken.set(provider, taken + 1)
    return true
  }

  unreserve(provider: string) {
    this.#free(provider)
    this.#starts.wake()
  }

  begin(run: RunToDo): Promise<Recorded<AccountEvent>[]> {
    this.#leases.hold(run.runId)
    return this.#submit(run)
  }

  /** Asks the provider for a run's work, in a slot that was reserved. Resolves to the events that ended the run, if it has. */
  #submit(run: RunToDo): Promise<Recorded<AccountEvent>[]> {
    const { runId, provider: name } = run
    const { providers, logger, clock } = this.#parts
    const submission = new Submission(run, { provider: providers[name] ?? nobody(name), clock, logger })
    const done = this.#bringOn(submission)
      .catch(error => {
        logger.error({ err: error, runId }, 'a run could not be brought to its end')
        return []
      })
      .finally(() => {
        this.#working.delete(runId)
        if (!this.#jobs.has(runId)) this.#leases.release(runId)
        this.unreserve(name)
      })
    this.#working.set(runId, { submission, done })
    return done
  }

  async #bringOn(submission: Submission): Promise<Recorded<AccountEvent>[]> {
    const { accountId, runId, mode } = submission.run
    const answer = await submission.answer()
    if (!answer) return []
    if (answer.kind !== 'submitted') return this.#end(submission.run, answer)
    await this.#record(accountId, { type: 'SubmitRun', runId, jobId: answer.jobId })
    if (mode === 'sync') {
      if (this.#lastCall.signal.aborted) return this.#end(submission.run, stopped)
      return new Promise(ended => this.#jobs.follow(runId, answer.pollAfterMs, ended))
    }
    // What is taken while the service stops is left to the next process.
    if (!this.#stopping) this.#jobs.follow(runId, answer.pollAfterMs)
    return []
  }

  async #end(run: EndedRun, outcome: Outcome): Promise<Recorded<AccountEvent>[]> {
    const command = await this.#toCommand(run, outcome)
    return command ? this.#record(run.accountId, command) : []
  }

  /** Undefined for an async run whose result could not be stored before the service stops: it is the next process's to do. */
  async #toCommand({ runId, mode }: EndedRun, outcome: Outcome): Promise<AccountCommand | undefined> {
    if (outcome.kind === 'failed') return { type: 'FailRun', runId, error: toRunError(outcome) }
    const { signal } = this.#lastCall
    try {
      return { type: 'CompleteRun', runId, output: await this.#parts.artifacts.store(outcome, signal) }
    } catch (error) {
      if (signal.aborted) return mode === 'async' ? undefined : { type: 'FailRun', runId, error: toRunError(stopped) }
      this.#parts.logger.error({ err: error, runId }, 'a result could not be stored')
      return { type: 'FailRun', runId, error: { code: 'provider_error', message: 'The result could not be stored.' } }
    }
  }

  /** Records what happened, however long the log takes no writes. A refusal means that another process was first. */
  async #record(accountId: RunToDo['accountId'], command: AccountCommand): Promise<Recorded<AccountEvent>[]> {
    const { accounts, logger } = this.#parts
    const outcome = await onceAvailable(
      () => accounts.execute(accountId, command, cause),
      () => !this.#stopping,
    )
    if (!('refuse' in outcome)) return outcome.accept
    logger.warn({ command: command.type, ...outcome.refuse }, 'an outcome came too late')
    return []
  }

  /** Begins queued runs of one provider, as many as it has slots for. */
  async #start(rows: StartTask[]): Promise<boolean> {
    const waiting = rows.filter(row => !this.#isHere(row.runId))
    const chosen: StartTask[] = []
    for (const row of waiting) if (this.reserve(row.provider)) chosen.push(row)
    const leased = await this.#leases.take(chosen.map(row => row.runId)).catch(error => {
      this.#parts.logger.error({ err: error }, 'queued runs could not be leased')
      return new Set<RunId>()
    })
    await Promise.all(
      chosen.map(async row => {
        const begun = leased.has(row.runId) && (await this.#startOne(row))
        // Nobody is woken, or the loop would come straight back to this row.
        if (begun) return
        this.#free(row.provider)
        this.#leases.release(row.runId)
      }),
    )
    return chosen.length === waiting.length
  }

  /** False when the run was cancelled or begun elsewhere, and only the views do not show it yet. */
  async #startOne(row: StartTask): Promise<boolean> {
    const { accountId, runId } = row
    try {
      const outcome = await this.#parts.accounts.execute(accountId, { type: 'StartRun', runId }, cause)
      const [started] = 'refuse' in outcome ? [] : outcome.accept
      if (!started) return false
      this.#submit({ ...row, startedAt: started.metadata.at })
      return true
    } catch (error) {
      this.#parts.logger.error({ err: error, runId }, 'a run could not be begun now and will be tried again')
      return false
    }
  }

  /** Looks after the runs that have begun: those whose process is no more are taken over. */
  async #watch(rows: WatchTask[]): Promise<boolean> {
    const nowMs = this.#parts.clock.nowMs()
    for (const row of rows) if (row.cancelRequested) this.#cancel(row.runId)
    // Whoever began a run a moment ago has no lease of it yet.
    const isOld = ({ startedAt }: WatchTask) => Date.parse(startedAt) + WATCH_AFTER_MS <= nowMs
    const foreign = rows.filter(row => !this.#isHere(row.runId) && isOld(row))
    const leased = await this.#leases.take(foreign.map(row => row.runId))
    for (const row of foreign) if (leased.has(row.runId)) await this.#takeOver(row)
    return true
  }

  /**
   * A started run that nobody holds was lost with its process. An async one is gone on with, since its provider knows it by
   * its id. Of a sync one the provider may have been paid, but the client was not served.
   */
  async #takeOver(row: WatchTask): Promise<void> {
    const { runId, jobId, mode, provider, cancelRequested } = row
    this.#parts.logger.warn({ runId, jobId }, 'a run whose process is no more is taken over')
    if (mode === 'async' && jobId !== undefined) return this.#jobs.follow(runId, 0)
    if (mode === 'sync') await this.#end(row, lost)
    else if (cancelRequested) await this.#end(row, cancelled)
    else if (this.reserve(provider)) return void this.#submit(row)
    // Without a free slot it is left to the next look.
    this.#leases.release(runId)
  }

  #isHere(runId: RunId): boolean {
    return this.#working.has(runId) || this.#jobs.has(runId)
  }

  #cancel(runId: RunId) {
    this.#working.get(runId)?.submission.cancel()
    this.#jobs.hurry(runId)
  }

  #free(provider: string) {
    this.#taken.set(provider, (this.#taken.get(provider) ?? 1) - 1)
  }
}

const cause = { actor: { kind: 'reactor' } } as const

/** A provider may say nothing, or more than an event holds; a cut may go through a character. */
const toRunError = ({ code, message }: Failed) => ({
  code,
  message: message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() || 'The provider gave no reason.',
})

/** Stands in for a provider that is not configured, so that its runs end too. */
const nobody = (name: string): Provider => ({
  submit: async () => ({ kind: 'failed', code: 'model_not_found', message: `No provider ${name} is set up here.` }),
  close: async () => undefined,
})
