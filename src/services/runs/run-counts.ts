import { DAY_MS, dayOf } from '../../domain/days.ts'
import type { Clock } from '../../ports/clock.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import type { Usage } from '../usage/usage.ts'
import type { WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import type { RunReads, RunsFilter } from './run-reads.ts'

/** Sums of runs. `creditsMicros` is what they cost after refunds and releases. */
export interface RunSums {
  runs: number
  failures: number
  creditsMicros: number
}

/** The sums of a part of a period, in milliseconds since 1970. */
export interface RunBar extends RunSums {
  fromMs: number
  toMs: number
}

export interface RunHistogram {
  /** The whole period in equal parts, oldest first. */
  bars: RunBar[]
  /** Only runs of this time or later are counted, since the period has too many. */
  countedFromMs: number
}

/** A period has both ends. */
export type CountedRuns = RunsFilter & { from: string; to: string }

/** Rows read for a histogram, in about 30 ms. A period with more runs is counted by days. */
const MAX_ROWS = 2_000

/** Rows read at a time. They take a few milliseconds, during which no other work is done. */
const SLICE_ROWS = 200

/** The most bars. A screen shows them at a few pixels each. */
const MAX_BARS = 62

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const WIDTHS_MS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS],
  ...[HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS, 7 * DAY_MS],
]

interface Dependencies {
  reads: Reads
  runReads: RunReads
  usage: Pick<Usage, 'groups'>
  clock: Clock
}

/** Counts the runs of an account over time, for its owner. */
export class RunCounts {
  readonly #dependencies: Dependencies

  readonly permissions = { histogram: 'read' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * The runs of a period of at most a year. Counts the runs themselves, or the sums by day if there are too many and
   * the period is of whole days. Rejects with Unavailable.
   */
  async histogram(caller: AccountCaller, asked: CountedRuns, client?: WaitingClient): Promise<Answer<RunHistogram>> {
    const [fromMs, toMs] = [Date.parse(asked.from), Date.parse(asked.to)]
    const counted = await this.#countDays(caller, asked, client)
    if (counted && counted.allRuns > MAX_ROWS && fromMs % DAY_MS === 0 && toMs % DAY_MS === 0) {
      const bars = emptyBars(fromMs, toMs, DAY_MS)
      for (const day of counted.byDay) addTo(bars, day.atMs, asked.status === 'failed' ? failuresOf(day) : day)
      return answer({ bars, countedFromMs: fromMs })
    }
    const bars = emptyBars(fromMs, toMs, MINUTE_MS)
    return answer({ bars, countedFromMs: await this.#countRuns(caller, asked, bars, client) })
  }

  /**
   * The sums of days, and how many runs there are without the filter; undefined for filters that sums do not know.
   * Failures count on the day of their refund.
   */
  async #countDays(
    caller: AccountCaller,
    { status, label, model, keyId, from, to }: CountedRuns,
    client: WaitingClient | undefined,
  ) {
    if (status !== undefined && status !== 'failed') return undefined
    const { usage } = this.#dependencies
    const days = { from: from.slice(0, 10), to: dayOf(Date.parse(to) + DAY_MS - 1) }
    const all = await usage.groups(caller, days, client)
    const listed = label === undefined ? all : await usage.groups(caller, { ...days, label }, client)
    if ('refuse' in all || 'refuse' in listed) return undefined
    const byDay = listed.value
      .filter(each => (model === undefined || each.model === model) && (keyId === undefined || each.keyId === keyId))
      .map(({ day = from, runs, failures, chargedMicros, refundedMicros, releasedMicros }) => ({
        atMs: Date.parse(day),
        ...{ runs, failures, creditsMicros: chargedMicros - refundedMicros - releasedMicros },
      }))
    return { byDay, allRuns: all.value.reduce((sum, each) => sum + each.runs, 0) }
  }

  /** Adds the newest runs to their bars. Returns the time from which on all are counted. */
  async #countRuns(
    caller: AccountCaller,
    asked: CountedRuns,
    bars: RunBar[],
    client: WaitingClient | undefined,
  ): Promise<number> {
    const { reads, runReads, clock } = this.#dependencies
    const { accountId } = caller
    const { matches, index = BY_KEY, below, above } = runReads.rangeOf(caller, asked)
    await reads.ownWrites(accountId)
    const prefix = `${accountId}/`
    const before = above && prefix + above
    let after = below && prefix + below
    for (let rows = 0; rows < MAX_ROWS; rows += SLICE_ROWS) {
      if (rows > 0) await (client?.nextTurn() ?? delay(clock, 0))
      const entries = await reads.list('runs', index, { prefix, after, before, newestFirst: true, limit: SLICE_ROWS })
      for (const { row } of entries) {
        if (!matches(row)) continue
        const { chargedMicros, refundedMicros = 0, releasedMicros = 0 } = row
        addTo(bars, Date.parse(row.createdAt), {
          runs: 1,
          failures: Number(row.status === 'failed'),
          creditsMicros: chargedMicros - refundedMicros - releasedMicros,
        })
      }
      if (entries.length < SLICE_ROWS || client?.signal.aborted) break
      after = entries.at(-1)?.place
      if (rows + SLICE_ROWS >= MAX_ROWS) return Date.parse(entries.at(-1)?.row.createdAt ?? asked.from)
    }
    return Date.parse(asked.from)
  }
}

/** Failed runs cost nothing. */
const failuresOf = ({ failures }: RunSums): RunSums => ({ runs: failures, failures, creditsMicros: 0 })

/** Equal parts of a period, of at least a width. The first begins with the period. */
const emptyBars = (fromMs: number, toMs: number, leastMs: number): RunBar[] => {
  const spanMs = Math.max(1, toMs - fromMs)
  const fits = (width: number) => width >= leastMs && spanMs / width <= MAX_BARS
  const width = WIDTHS_MS.find(fits) ?? Math.ceil(spanMs / MAX_BARS)
  return Array.from({ length: Math.ceil(spanMs / width) }, (_, index) => {
    const start = fromMs + index * width
    return { fromMs: start, toMs: Math.min(start + width, toMs), runs: 0, failures: 0, creditsMicros: 0 }
  })
}

const addTo = (bars: RunBar[], atMs: number, { runs, failures, creditsMicros }: RunSums) => {
  const [first, last] = [bars[0], bars.at(-1)]
  if (!first || !last || atMs < first.fromMs || atMs >= last.toMs) return
  const bar = bars[Math.floor((atMs - first.fromMs) / (first.toMs - first.fromMs))]
  if (!bar) return
  bar.runs += runs
  bar.failures += failures
  bar.creditsMicros += creditsMicros
}

/** The sums of bars. */
export const sumOf = (bars: readonly RunSums[]): RunSums => ({
  runs: bars.reduce((sum, { runs }) => sum + runs, 0),
  failures: bars.reduce((sum, { failures }) => sum + failures, 0),
  creditsMicros: bars.reduce((sum, { creditsMicros }) => sum + creditsMicros, 0),
})
