import { LRUCache } from 'lru-cache'
import type { Observable, Subscription } from 'rxjs'
import { queues, WATCH_AFTER_MS } from '../../../projections/due.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import type { StartTask, WatchTask } from '../../../schemas/views.ts'
import type { Changes } from '../../engine/views/view-progress.ts'
import { upTo } from '../../flow/cache-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import { type Routes, upstreamOf } from '../../services/providers/routes.ts'
import { readQueuedRun, readRunInput } from '../../services/runs/run-inputs.ts'
import { Outage } from '../../time/outage.ts'
import { chooseFrom, DueLoop } from '../due-loop.ts'
import type { ActiveRuns } from './active-runs.ts'
import { cancelled, lost, unavailable } from './provider-calls.ts'
import type { ProviderPermits } from './provider-permits.ts'

/** How often to look for queued runs without being woken, and for lost runs. */
const START_POLL_MS = 500
const WATCH_POLL_MS = 3000

/** Runs are checked WATCH_AFTER_MS after their start; clocks of several machines differ by no more than that. */
const MAX_AHEAD_MS = 2 * WATCH_AFTER_MS

/** More runs than start while the views are behind. */
const MAX_NOT_QUEUED = 50_000

interface Dependencies {
  activeRuns: ActiveRuns
  routes: Routes
  permits: ProviderPermits
  accounts: AccountMailboxes
  log: EventLog
  views: ViewStore
  clock: Clock
  logger: Logger
}

/** Starts queued runs, takes over runs whose process has died, and forwards requests to cancel. */
export class RunsReactor {
  readonly #dependencies: Dependencies
  readonly #starts: DueLoop<StartTask>
  readonly #lost: DueLoop<WatchTask>
  readonly #cancels: DueLoop<WatchTask>
  /** Runs that the views show as queued, and their accounts do not. */
  readonly #notQueued = new LRUCache<RunId, true>(upTo(MAX_NOT_QUEUED))
  readonly #outage: Outage
  #subscription: Subscription | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#outage = new Outage(dependencies.logger, 'queued runs could not be leased', 'queued runs can be leased again')
    const start = {
      pollMs: START_POLL_MS,
      maxAheadMs: MAX_AHEAD_MS,
      needsWork: ({ runId }: StartTask) => !dependencies.activeRuns.hasRun(runId) && !this.#notQueued.has(runId),
      takeRows: (rows: StartTask[]) => this.#start(rows),
    }
    const watch = {
      pollMs: WATCH_POLL_MS,
      maxAheadMs: MAX_AHEAD_MS,
      takeRows: (rows: WatchTask[]) => this.#watch(rows),
    }
    this.#starts = new DueLoop(dependencies, { ...start, queues: queues.start })
    this.#lost = new DueLoop(dependencies, { ...watch, queues: queues.watch })
    this.#cancels = new DueLoop(dependencies, { ...watch, queues: queues.cancel })
  }

  start(changes: Observable<Changes>) {
    const { activeRuns, permits } = this.#dependencies
    activeRuns.start()
    this.#subscription = permits.freed.subscribe(() => this.#starts.resume())
    this.#starts.start(changes)
    this.#lost.start()
    this.#cancels.start(changes)
  }

  /** Looks for no more runs, then stops the runs in progress; see ActiveRuns. */
  async stop() {
    const { activeRuns } = this.#dependencies
    activeRuns.close()
    await Promise.all([this.#starts.stop(), this.#lost.stop(), this.#cancels.stop()])
    this.#subscription?.unsubscribe()
    await activeRuns.stop()
  }

  /** Starts as many queued runs of one provider as it has free permits. Other runs have to wait. */
  async #start(rows: StartTask[]): Promise<StartTask[]> {
    const { activeRuns } = this.#dependencies
    const reserved = new Map<StartTask, string | undefined>()
    const { chosen, waiting } = chooseFrom(rows, row => {
      if (this.#isHopeless(row)) return true
      const provider = activeRuns.reserveProvider(row)
      reserved.set(row, provider)
      return provider !== undefined
    })
    const leased = await activeRuns.leases.takeLeases(chosen.map(row => row.runId)).then(
      taken => {
        if (chosen.length > 0) this.#outage.passed()
        return taken
      },
      error => {
        this.#outage.failed(error)
        return new Set<RunId>()
      },
    )
    await Promise.all(
      chosen.map(async row => {
        const provider = reserved.get(row)
        if (provider === undefined) return this.#endUnserved(row, leased.has(row.runId))
        const started = leased.has(row.runId) && (await this.#startOne(row, provider))
        if (!started) activeRuns.declineRun(row, provider)
      }),
    )
    return waiting
  }

  /** False if the run was cancelled or started elsewhere, and the views do not show it yet. */
  async #startOne(row: StartTask, reserved: string): Promise<boolean> {
    const { accounts, activeRuns, log, logger } = this.#dependencies
    const { accountId, runId, endpoint } = row
    try {
      // Takes the mode from the log, because a forged view must not send a test run to a provider.
      const { input, livemode } = await readQueuedRun(log, row)
      const routes = this.#dependencies.routes.ofMode({ livemode })
      const [route] = routes.findRoutes(endpoint, input)
      if (!route) {
        // Otherwise the circuit breakers of all providers that could take the run are open.
        if (routes.unmetParameters(endpoint, input)) await activeRuns.endRun(row, unavailable(endpoint))
        return false
      }
      // Other runs start at the same time, and must find the turn of the next account.
      routes.passTurn(route)
      const upstream = upstreamOf(route)
      const outcome = await accounts.execute({ kind: 'reactor' }, accountId, { type: 'StartRun', runId, upstream })
      const [started] = 'refuse' in outcome ? [] : outcome.accept
      if (!started) {
        this.#notQueued.set(runId, true)
        return false
      }
      activeRuns.submitRun({ ...row, livemode, input, startedAt: clockOf(started) }, reserved, route)
      return true
    } catch (error) {
      logger.error({ err: error, runId }, 'a run could not be started; retrying')
      return false
    }
  }

  /** Whether no provider takes the run: none is configured for it, or all breakers were open for its whole time. */
  #isHopeless({ endpoint, dueAt, timeoutMs, livemode }: StartTask): boolean {
    const { clock } = this.#dependencies
    const routes = this.#dependencies.routes.ofMode({ livemode })
    if (!routes.servesEndpoint(endpoint)) return true
    return clock.nowMs() - Date.parse(dueAt) > timeoutMs && routes.waitMs(endpoint) !== undefined
  }

  async #endUnserved(row: StartTask, isLeased: boolean): Promise<void> {
    const { activeRuns, logger } = this.#dependencies
    const { runId, endpoint } = row
    if (!isLeased) return
    logger.error({ runId, endpoint }, 'a run failed because no provider takes the job')
    this.#notQueued.set(runId, true)
    await activeRuns
      .endRun(row, unavailable(endpoint))
      .catch(error => logger.error({ err: error, runId }, 'a run could not be ended'))
    activeRuns.leases.releaseLease(runId)
  }

  /** Forwards requests to cancel, and takes over started runs whose process has died. */
  async #watch(rows: WatchTask[]): Promise<WatchTask[]> {
    const { activeRuns, clock } = this.#dependencies
    const nowMs = clock.nowMs()
    for (const row of rows) if (row.cancelRequested) activeRuns.cancelRun(row.runId)
    // A run that has just started has no lease yet. A start far ahead was recorded before a clock went back.
    const isOld = ({ startedAt }: WatchTask) => Math.abs(nowMs - Date.parse(startedAt)) >= WATCH_AFTER_MS
    const foreign = rows.filter(row => !activeRuns.hasRun(row.runId) && isOld(row))
    const leased = await activeRuns.leases.takeLeases(foreign.map(row => row.runId))
    for (const row of foreign) if (leased.has(row.runId)) await this.#tryTakeOver(row)
    return []
  }

  async #tryTakeOver(row: WatchTask): Promise<void> {
    const { activeRuns, logger } = this.#dependencies
    const { runId } = row
    try {
      await this.#takeOver(row)
    } catch (error) {
      logger.error({ err: error, runId }, 'a run could not be taken over; retrying')
      // Another process may end it first, so the lease must not wait for the next look.
      if (!activeRuns.hasRun(runId)) activeRuns.leases.releaseLease(runId)
    }
  }

  /**
   * Takes over a started run that was lost with its process. An async run continues, since its provider knows its id. A
   * sync run fails: its client was never answered.
   */
  async #takeOver(row: WatchTask): Promise<void> {
    const { accounts, activeRuns, log, logger, routes } = this.#dependencies
    const { accountId, runId, mode, endpoint } = row
    // The account's own state decides: a row may be older than it.
    const run = (await accounts.currentState(accountId)).openRuns.get(runId)
    if (activeRuns.hasRun(runId)) return
    if (!run?.isStarted) return activeRuns.leases.releaseLease(runId)
    const { jobId, isCancelRequested, livemode, upstream = row.upstream } = run
    logger.warn({ runId, jobId }, 'taking over a run that its process abandoned')
    if (mode === 'async' && jobId !== undefined) return activeRuns.followJob({ ...row, upstream })
    const client = routes.findAcceptedRoute(endpoint, upstream)?.account.client
    // This provider may have accepted the run, and so may a provider that was tried later.
    const isRepeatable = client?.deduplicates && routes.ofMode({ livemode }).deduplicates(endpoint)
    if (mode === 'sync' || !isRepeatable) await activeRuns.endRun(row, lost, upstream)
    else if (isCancelRequested) await activeRuns.endRun(row, cancelled, upstream)
    else {
      const input = await readRunInput(log, row)
      const reserved = activeRuns.reserveProvider({ endpoint, accountId, livemode })
      if (reserved !== undefined) return void activeRuns.submitRun({ ...row, livemode, input }, reserved)
    }
    // Without a free permit, the next look tries again.
    activeRuns.leases.releaseLease(runId)
  }
}
