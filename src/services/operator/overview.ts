import { queues } from '../../../projections/due.ts'
import type { Alert } from '../../../schemas/operator-events.ts'
import { type AccountId, SANDBOX } from '../../../schemas/primitives.ts'
import type { Retirement } from '../../domain/account/commands.ts'
import { DAY_MS } from '../../domain/days.ts'
import type { AlertsState } from '../../domain/operator/alerts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import type { Retirements } from '../catalog/retirements.ts'
import type { SharedBreaker } from '../providers/provider-reports.ts'
import type { Routing } from '../providers/routing.ts'
import type { Reads } from '../views/reads.ts'
import type { Activity, ProviderActivity, RecentActivity } from './activity.ts'

/** Rows that are read of a kind of due work. A longer queue counts as more than that. */
const MAX_ROWS = 1_000

/** Retirements further ahead need nobody yet. */
const RETIRES_SOON_MS = 60 * DAY_MS

/** The first attempts of a webhook may fail by chance. */
const FAILING_ATTEMPTS = 3

interface Dependencies {
  activity: Pick<Activity, 'recent'>
  alerts(): Promise<AlertsState>
  retirements: Pick<Retirements, 'list'>
  routing: Pick<Routing, 'disabledProviders' | 'reported'>
  reads: Reads
  log: Pick<EventLog, 'head'>
  clock: Clock
  /** The providers that have keys. */
  configured: readonly string[]
}

/** The state of a provider. */
export interface ProviderState {
  provider: string
  state: 'on' | 'disabled' | 'resting' | 'no reports'
  /** Why an operator has turned it off. */
  reason?: string | undefined
  openBreakers: readonly SharedBreaker[]
  calls: number
  maxCalls: number
  activity: ProviderActivity | undefined
}

/** Runs that wait to start. */
export interface StartQueue {
  waiting: number
  /** Whether more wait than were counted. */
  isMore: boolean
  /** When the oldest of these was due. */
  oldestAt: string | undefined
  byEndpoint: readonly { endpoint: string; waiting: number }[]
}

/** Webhooks of an account to a host, whose attempts fail. */
export interface FailingWebhooks {
  accountId: AccountId
  host: string
  waiting: number
  attempts: number
}

export interface OperatorOverview {
  activity: RecentActivity | undefined
  queue: StartQueue
  /** How long the views took to reach the end of the log; undefined if they did not in time. */
  viewsBehindMs: number | undefined
  alerts: readonly Alert[]
  providers: readonly ProviderState[]
  /** The models that retire soon, the next one first. */
  retiring: readonly Retirement[]
  webhooks: readonly FailingWebhooks[]
}

/** Shows operators how the service does, and what needs them. Bounded work, whatever the length of the log. */
export class Overview {
  readonly #dependencies: Dependencies

  readonly permissions = { read: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  async read(caller: Caller): Promise<Answer<OperatorOverview>> {
    const { activity, alerts, retirements, clock } = this.#dependencies
    const recent = activity.recent()
    const [queue, viewsBehindMs, { open }, providers, retiring, webhooks] = await Promise.all([
      this.#startQueue(),
      this.#viewsBehind(),
      alerts(),
      this.#providers(caller, recent),
      retirements.list(),
      this.#failingWebhooks(),
    ])
    const soon = new Date(clock.nowMs() + RETIRES_SOON_MS).toISOString()
    return answer({
      activity: recent,
      queue,
      viewsBehindMs,
      alerts: [...open.values()].map(({ alert }) => alert),
      providers,
      retiring: retiring
        .filter(({ retiresAt }) => retiresAt <= soon)
        .sort((one, other) => (one.retiresAt < other.retiresAt ? -1 : 1)),
      webhooks,
    })
  }

  async #startQueue(): Promise<StartQueue> {
    const range = { prefix: queues.start, limit: MAX_ROWS }
    const rows = (await this.#dependencies.reads.list('due', 'byQueue', range)).map(({ row }) => row)
    const counts = new Map<string, number>()
    for (const { queue } of rows) {
      const endpoint = queue.slice(queues.start.length)
      counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1)
    }
    return {
      waiting: rows.length,
      isMore: rows.length === MAX_ROWS,
      oldestAt: rows.map(({ dueAt }) => dueAt).sort()[0],
      byEndpoint: [...counts]
        .map(([endpoint, waiting]) => ({ endpoint, waiting }))
        .sort((one, other) => other.waiting - one.waiting),
    }
  }

  async #viewsBehind(): Promise<number | undefined> {
    const { log, reads, clock } = this.#dependencies
    const startMs = clock.monotonicMs()
    try {
      await reads.passed(await log.head())
      return clock.monotonicMs() - startMs
    } catch (error) {
      if (error instanceof Unavailable) return undefined
      throw error
    }
  }

  async #providers(caller: Caller, recent: RecentActivity | undefined): Promise<ProviderState[]> {
    const { routing, configured } = this.#dependencies
    const [disabled, reported] = await Promise.all([routing.disabledProviders(caller), routing.reported(caller)])
    if ('refuse' in disabled || 'refuse' in reported) return []
    // Without any key, the sandbox does the runs.
    const usual = configured.length > 0 ? configured : [SANDBOX]
    const names = new Set([...usual, ...reported.value.keys(), ...(recent?.byProvider ?? []).map(byName)])
    return [...names].map(provider => {
      const choice = disabled.value.get(provider)
      const { processes, calls, maxCalls, openBreakers } = reported.value.get(provider) ?? NO_REPORTS
      // The sandbox is part of the service.
      const isSilent = processes === 0 && provider !== SANDBOX
      return {
        provider,
        state: choice ? 'disabled' : openBreakers.length > 0 ? 'resting' : isSilent ? 'no reports' : 'on',
        reason: choice?.reason,
        openBreakers,
        calls,
        maxCalls,
        activity: recent?.byProvider.find(each => each.provider === provider),
      }
    })
  }

  async #failingWebhooks(): Promise<FailingWebhooks[]> {
    const range = { prefix: queues.deliver, limit: MAX_ROWS }
    const found = new Map<string, FailingWebhooks>()
    for (const { row } of await this.#dependencies.reads.list('due', 'byQueue', range)) {
      if (row.task !== 'deliver-webhook' || row.attempt <= FAILING_ATTEMPTS || !URL.canParse(row.url)) continue
      const { host } = new URL(row.url)
      const key = `${row.accountId} ${host}`
      const before = found.get(key) ?? { accountId: row.accountId, host, waiting: 0, attempts: 0 }
      const attempts = Math.max(before.attempts, row.attempt - 1)
      found.set(key, { ...before, waiting: before.waiting + 1, attempts })
    }
    return [...found.values()]
  }
}

const byName = ({ provider }: { provider: string }) => provider

const NO_REPORTS = { processes: 0, calls: 0, maxCalls: 0, openBreakers: [] }
