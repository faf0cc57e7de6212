import type { Clock } from '../../ports/clock.ts'
import type { ViewStore } from '../../ports/view-store.ts'
import { every } from '../../time/timers.ts'
import type { OpenBreaker } from './circuit-breakers.ts'
import type { ProviderAccount } from './provider-account.ts'
import { readReports, type SharedBreaker } from './provider-reports.ts'

/** How often the reports are read. They change at most as often. */
const REFRESH_MS = 1_000

interface Dependencies {
  views: Pick<ViewStore, 'reports'>
  clock: Clock
}

/**
 * The accounts and models that take no jobs, from the reports of other processes, for processes that submit no jobs.
 * Clients see from it which models are available. It decides nothing.
 */
export class ReportedBreakers {
  readonly #dependencies: Dependencies
  #breakers: SharedBreaker[] = []
  #isReading = false
  #stop = () => {}

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Rejects with Unavailable. */
  async load() {
    const { views, clock } = this.#dependencies
    const reported = await readReports(views, clock.nowMs())
    // Any of the processes may take a run, so all must report the breaker.
    this.#breakers = [...reported.values()].flatMap(({ processes, openBreakers }) =>
      openBreakers.filter(breaker => breaker.processes === processes),
    )
  }

  start() {
    this.#stop = every(this.#dependencies.clock, REFRESH_MS, () => this.#refresh())
  }

  stop() {
    this.#stop()
  }

  openBreakerOf(
    { provider, account }: Pick<ProviderAccount, 'provider' | 'account'>,
    model: string,
  ): OpenBreaker | undefined {
    const { clock } = this.#dependencies
    const leftMs = ({ until }: SharedBreaker) => Date.parse(until) - clock.nowMs()
    const [longest] = this.#breakers
      .filter(breaker => breaker.provider === provider && breaker.account === account)
      .filter(breaker => (breaker.model === undefined || breaker.model === model) && leftMs(breaker) > 0)
      .sort((one, other) => leftMs(other) - leftMs(one))
    return longest && { kind: longest.kind, untilMs: clock.monotonicMs() + leftMs(longest) }
  }

  /** While the view store is unavailable, the last reports hold until their times are over. */
  #refresh() {
    if (this.#isReading) return
    this.#isReading = true
    this.load()
      .catch(() => undefined)
      .finally(() => {
        this.#isReading = false
      })
  }
}
