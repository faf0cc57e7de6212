import { MAX_REPORTED_BREAKERS, type ProviderReport } from '../../../schemas/provider-report.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import type { CircuitBreakers } from '../../services/providers/circuit-breakers.ts'
import { REPORT_MS } from '../../services/providers/provider-reports.ts'
import { every, withinTime } from '../../time/timers.ts'
import type { ProviderPermits } from './provider-permits.ts'

/** How often the report may change. */
const TICK_MS = 1000

/** A report outlasts a few attempts to renew it. */
const RENEW_MS = REPORT_MS / 3

/** How long a stop waits for that. A report that stays behind expires. */
const STOP_MS = 500

interface Dependencies {
  /** Those that are configured. */
  providers: readonly string[]
  breakers: Pick<CircuitBreakers, 'openBreakers'>
  permits: Pick<ProviderPermits, 'countCalls'>
  maxCalls: number
  views: Pick<ViewStore, 'report'>
  clock: Clock
  random: Random
  logger: Logger
}

/**
 * Tells the operator's commands, which run in processes of their own, how the providers of this process are. Nothing
 * waits for a report, and nothing is decided on it. Without providers there is none.
 */
export class ProviderReports {
  readonly #dependencies: Dependencies
  readonly #reporter: string
  #stopTicking = () => {}
  #written = { state: '', atMs: Number.NEGATIVE_INFINITY }
  #writing: Promise<void> | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#reporter = dependencies.random.uuid()
  }

  start() {
    if (this.#dependencies.providers.length === 0) return
    this.#tick()
    this.#stopTicking = every(this.#dependencies.clock, TICK_MS, () => this.#tick())
  }

  /** Takes the report back. Never rejects. */
  async stop() {
    this.#stopTicking()
    const takenBack = async () => {
      await this.#writing
      if (this.#written.state !== '') await this.#write(undefined).catch(() => undefined)
    }
    await withinTime(this.#dependencies.clock, takenBack(), STOP_MS, () => undefined)
  }

  #tick() {
    const { clock, breakers, logger } = this.#dependencies
    if (this.#writing) return
    const openBreakers = breakers.openBreakers().slice(0, MAX_REPORTED_BREAKERS)
    const calls = this.#calls()
    const state = JSON.stringify([calls, openBreakers])
    const nowMs = clock.monotonicMs()
    if (state === this.#written.state && nowMs < this.#written.atMs + RENEW_MS) return
    const aheadMs = clock.nowMs() - nowMs
    const rests = openBreakers.map(({ untilMs, ...breaker }) => ({
      ...breaker,
      until: new Date(untilMs + aheadMs).toISOString(),
    }))
    this.#writing = this.#write({ calls, maxCalls: this.#dependencies.maxCalls, rests })
      .then(() => {
        this.#written = { state, atMs: nowMs }
      })
      .catch(error => logger.debug({ err: error }, 'the state of the providers could not be reported'))
      .finally(() => {
        this.#writing = undefined
      })
  }

  #calls(): Record<string, number> {
    const { providers, permits } = this.#dependencies
    return Object.fromEntries(providers.map(provider => [provider, permits.countCalls(provider)]))
  }

  async #write(report: ProviderReport | undefined) {
    const { views, clock } = this.#dependencies
    const nowMs = clock.nowMs()
    await views.report(this.#reporter, report && JSON.stringify(report), nowMs, nowMs + REPORT_MS)
  }
}
