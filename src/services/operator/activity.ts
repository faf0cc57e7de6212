import { costOf } from '../../../schemas/account-events.ts'
import { accountIn } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Logger } from '../../ports/logger.ts'
import { Outage } from '../../time/outage.ts'
import { delay } from '../../time/timers.ts'

/** How far back the sums go. */
const SPAN_MS = 60 * 60 * 1000

/** Sums are kept by minute, so that old ones can be dropped. */
const MINUTE_MS = 60_000

/** The newest runs whose ends are awaited: a few megabytes. */
const MAX_OPEN = 20_000

/** The newest latencies of a provider in a minute. They are enough for a median. */
const MAX_LATENCIES = 200

/** How long to wait before the log is followed again after a failure. */
const RETRY_MS = 5_000

/** What a provider did for a family. Amounts are millionths of a US dollar. */
export interface Work {
  provider: string
  model: string
  runs: number
  failed: number
  earnedUsdMicros: number
  costUsdMicros: number
  /** Runs whose revenue or cost is not known in dollars. */
  unknown: number
}

/** What has happened since a time, at most an hour ago. */
export interface RecentActivity {
  sinceMs: number
  runsAMinute: number
  runs: number
  failed: number
  byProvider: readonly ProviderActivity[]
  /** The families whose runs cost more than they earned. */
  belowCost: readonly Work[]
}

export interface ProviderActivity extends Omit<Work, 'model'> {
  p50Ms: number | undefined
  p99Ms: number | undefined
}

interface OpenRun {
  model: string
  provider?: string
  startedMs?: number
  chargedMicros: number
  usdPerCreditMicros: number | undefined
}

interface Minute {
  atMs: number
  work: Map<string, Work>
  latencies: Map<string, number[]>
}

interface Dependencies {
  log: Pick<EventLog, 'head' | 'follow'>
  clock: Clock
  logger: Pick<Logger, 'error' | 'info'>
}

/**
 * Follows the log, and sums up what live runs did in the last hour, for operators. A log has no index by time, so this
 * knows nothing from before the start of the process.
 */
export class Activity {
  readonly #dependencies: Dependencies
  readonly #open = new Map<string, OpenRun>()
  /** Runs whose cost follows their end. */
  readonly #ended = new Map<string, OpenRun>()
  #minutes: Minute[] = []
  #sinceMs: number | undefined
  readonly #stopping = new AbortController()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  start() {
    void this.#follow()
  }

  stop() {
    this.#stopping.abort()
  }

  /** Undefined before the process has begun to follow the log. */
  recent(): RecentActivity | undefined {
    if (this.#sinceMs === undefined) return undefined
    const nowMs = this.#dependencies.clock.nowMs()
    const sinceMs = Math.max(this.#sinceMs, nowMs - SPAN_MS)
    this.#drop(nowMs)
    const work = sumsOf(
      this.#minutes.flatMap(minute => [...minute.work.values()]),
      keyOf,
    )
    const byProvider = sumsOf(work, ({ provider }) => provider).map(({ model: _, ...sums }) => {
      const latencies = this.#minutes.flatMap(minute => minute.latencies.get(sums.provider) ?? []).sort((a, b) => a - b)
      return { ...sums, p50Ms: latencies[latencies.length >> 1], p99Ms: latencies[Math.floor(latencies.length * 0.99)] }
    })
    const runs = byProvider.reduce((sum, each) => sum + each.runs, 0)
    const minutes = Math.max(1, (nowMs - sinceMs) / MINUTE_MS)
    return {
      sinceMs,
      runsAMinute: Math.round((runs / minutes) * 10) / 10,
      runs,
      failed: byProvider.reduce((sum, each) => sum + each.failed, 0),
      byProvider,
      belowCost: work.filter(each => each.costUsdMicros > each.earnedUsdMicros),
    }
  }

  async #follow() {
    const { log, clock, logger } = this.#dependencies
    const outage = new Outage(logger, 'the activity cannot be followed; retrying', 'the activity is followed again')
    const { signal } = this.#stopping
    let after: number | undefined
    while (!signal.aborted) {
      try {
        after ??= await log.head()
        this.#sinceMs ??= clock.nowMs()
        for await (const page of log.follow(after, signal)) {
          outage.passed()
          for (const event of page) {
            this.take(event)
            after = event.position
          }
        }
      } catch (error) {
        if (!signal.aborted) outage.failed(error)
      }
      await delay(clock, RETRY_MS, signal)
    }
  }

  /** Takes an event of the log. */
  take(event: RawEvent) {
    if (accountIn(event.stream) === undefined) return
    const data = event.data as EventData
    const { runId } = data
    const atMs = Date.parse((event.metadata as { at: string }).at)
    const run = runId === undefined ? undefined : this.#open.get(runId)
    switch (event.type) {
      case 'CreditsDebited':
        if (runId !== undefined && data.receipt)
          put(this.#open, runId, {
            model: data.receipt.model,
            chargedMicros: data.amountMicros ?? 0,
            usdPerCreditMicros: data.receipt.usdPerCreditMicros,
          })
        return
      case 'RunStarted':
      case 'RunSubmitted':
        if (run) Object.assign(run, { provider: data.upstream?.provider, startedMs: run.startedMs ?? atMs })
        return
      case 'CreditsReleased':
        if (run) run.chargedMicros -= data.amountMicros ?? 0
        return
      case 'RunCompleted':
      case 'RunFailed':
        if (run && runId !== undefined) this.#end(runId, run, event, atMs)
        return
      case 'ProviderCostRecorded':
        return this.#cost(event, atMs)
    }
  }

  #end(runId: string, run: OpenRun, event: RawEvent, atMs: number) {
    this.#open.delete(runId)
    const isFailed = event.type === 'RunFailed'
    const worker = (event.data as EventData).upstream?.provider
    if (worker !== undefined) run.provider = worker
    // It never reached a provider.
    if (run.provider === undefined) return
    put(this.#ended, runId, run)
    const { provider, usdPerCreditMicros } = run
    const work = this.#workOf(run, atMs)
    work.runs += 1
    work.failed += Number(isFailed)
    // A failed run is refunded in full.
    if (!isFailed) {
      if (usdPerCreditMicros === undefined) work.unknown += 1
      else work.earnedUsdMicros += Math.round((run.chargedMicros * usdPerCreditMicros) / 1_000_000)
    }
    if (run.startedMs !== undefined) {
      const { latencies } = this.#minuteAt(atMs)
      const known = latencies.get(provider) ?? []
      if (known.length < MAX_LATENCIES) latencies.set(provider, [...known, Math.max(0, atMs - run.startedMs)])
    }
    this.#cost(event, atMs)
  }

  #cost(event: RawEvent, atMs: number) {
    const cost = costOf(event as Parameters<typeof costOf>[0])
    const run = cost && this.#ended.get(cost.runId)
    if (!run) return
    const work = this.#workOf(run, atMs)
    if (cost.amountMicros === undefined || cost.currency !== 'USD') work.unknown += 1
    else work.costUsdMicros += cost.amountMicros
  }

  #workOf({ provider = '', model }: OpenRun, atMs: number): Work {
    const { work } = this.#minuteAt(atMs)
    const none = { provider, model, runs: 0, failed: 0, earnedUsdMicros: 0, costUsdMicros: 0, unknown: 0 }
    const found = work.get(keyOf(none)) ?? none
    work.set(keyOf(none), found)
    return found
  }

  /** The sums of a minute. Events of clocks that go back a little count in the newest. */
  #minuteAt(atMs: number): Minute {
    const last = this.#minutes.at(-1)
    if (last && atMs < last.atMs + MINUTE_MS) return last
    const minute = { atMs: atMs - (atMs % MINUTE_MS), work: new Map(), latencies: new Map() }
    this.#minutes.push(minute)
    this.#drop(atMs)
    return minute
  }

  #drop(nowMs: number) {
    this.#minutes = this.#minutes.filter(({ atMs }) => atMs > nowMs - SPAN_MS)
  }
}

interface EventData {
  runId?: string
  amountMicros?: number
  receipt?: { model: string; usdPerCreditMicros?: number }
  upstream?: { provider: string }
}

const keyOf = ({ provider, model }: Pick<Work, 'provider' | 'model'>) => `${provider} ${model}`

/** Forgets the oldest entry of a full map. */
const put = (map: Map<string, OpenRun>, id: string, run: OpenRun) => {
  map.set(id, run)
  for (const oldest of map.keys()) {
    if (map.size <= MAX_OPEN) return
    map.delete(oldest)
  }
}

const sumsOf = (all: readonly Work[], groupOf: (work: Work) => string): Work[] => {
  const groups = new Map<string, Work>()
  for (const each of all) {
    const before = groups.get(groupOf(each))
    if (!before) groups.set(groupOf(each), { ...each })
    else
      for (const name of ['runs', 'failed', 'earnedUsdMicros', 'costUsdMicros', 'unknown'] as const)
        before[name] += each[name]
  }
  return [...groups.values()].sort((one, other) => other.runs - one.runs)
}
