import { costOf, type ProviderCostRecorded } from '../../schemas/account-events.ts'
import { accountIn, type RecordedEvent } from '../../schemas/events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { ReadableLog } from '../ports/event-log.ts'
import { eventCodec } from '../services/event-codec.ts'
import { type OnProgress, readLog } from './read-log.ts'

/** The revenue and cost of a family's runs at a provider in a month in UTC. */
export interface Margin {
  month: string
  family: string
  provider: string
  /** The runs that ended, and how many of them failed. */
  runs: number
  failed: number
  /** Microcredits: the debits less their releases. Together, runs may move more than a double counts exactly. */
  chargedMicros: bigint
  refundedMicros: bigint
  /** The charges without refunds, at the rates of the receipts, exact in trillionths of a US dollar. */
  earnedUsdPicos: bigint
  /** Runs whose receipt has no rate, so their revenue in dollars is unknown. */
  withoutRate: number
  /** Millionths by currency. */
  costs: Map<string, bigint>
  /** Runs for which the provider may charge an unknown amount. */
  unknownCosts: number
}

interface Run {
  family: string
  chargedMicros: number
  usdPerCreditMicros: number | undefined
  provider?: string
  hasEnded?: boolean
}

const COUNTED = new Set<string>([
  'CreditsDebited',
  'RunStarted',
  'RunSubmitted',
  'RunCompleted',
  'RunFailed',
  'CreditsRefunded',
  'CreditsReleased',
  'ProviderCostRecorded',
] satisfies RecordedEvent['type'][])

/**
 * Adds up the revenue and cost of runs, by month, family and provider. A run counts in the month of its end, a refund
 * in its own month. No single event has all these facts, so the log is folded, like for the books. Throws Damaged.
 */
export const margins = async (
  log: ReadableLog,
  { onProgress, ...period }: CostPeriod & { onProgress?: OnProgress } = {},
): Promise<Margin[]> => {
  const all = new Margins(period)
  for await (const page of readLog(log, { onProgress })) for (const event of page) all.take(event)
  return all.rows()
}

class Margins {
  readonly #period: CostPeriod
  readonly #runs = new Map<string, Run>()
  readonly #rows = new Map<string, Margin>()

  constructor(period: CostPeriod) {
    this.#period = period
  }

  take(raw: RawEvent) {
    if (accountIn(raw.stream) === undefined || !COUNTED.has(raw.type)) return
    const event = eventCodec.decode(raw)
    this.#takeStep(event)
    const cost = costOf(event)
    if (cost) this.#cost(cost, event.metadata.at)
  }

  #takeStep({ type, data, metadata }: RecordedEvent) {
    switch (type) {
      case 'CreditsDebited': {
        const { model: family, usdPerCreditMicros } = data.receipt
        this.#runs.set(data.runId, { family, chargedMicros: data.amountMicros, usdPerCreditMicros })
        return
      }
      case 'RunStarted':
      case 'RunSubmitted': {
        const run = this.#runs.get(data.runId)
        if (run) run.provider = data.upstream.provider
        return
      }
      case 'CreditsReleased': {
        const run = this.#runs.get(data.runId)
        // The end of the run follows, and earns the rest.
        if (run) run.chargedMicros -= data.amountMicros
        return
      }
      case 'RunCompleted':
      case 'RunFailed':
        return this.#end(data.runId, metadata.at, data.upstream?.provider, type === 'RunFailed')
      case 'CreditsRefunded':
        return this.#earn(data.runId, metadata.at, -data.amountMicros)
    }
  }

  #cost({ runId, amountMicros, currency }: ProviderCostRecorded, at: string) {
    const row = this.#rowOf(this.#runs.get(runId), at)
    if (!row) return
    if (amountMicros === undefined || currency === undefined) row.unknownCosts += 1
    else row.costs.set(currency, (row.costs.get(currency) ?? 0n) + BigInt(amountMicros))
  }

  rows(): Margin[] {
    return [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  }

  #end(runId: string, at: string, provider: string | undefined, hasFailed: boolean) {
    const run = this.#runs.get(runId)
    // A run that never reached a provider has no revenue and no cost.
    if (!run?.provider) return void this.#runs.delete(runId)
    run.provider = provider ?? run.provider
    run.hasEnded = true
    const row = this.#rowOf(run, at)
    if (row) {
      row.runs += 1
      row.failed += Number(hasFailed)
    }
    this.#earn(runId, at, run.chargedMicros)
  }

  #earn(runId: string, at: string, amountMicros: number) {
    const run = this.#runs.get(runId)
    const row = this.#rowOf(run, at)
    if (!run || !row) return
    row[amountMicros < 0 ? 'refundedMicros' : 'chargedMicros'] += BigInt(Math.abs(amountMicros))
    row.earnedUsdPicos += BigInt(amountMicros) * BigInt(run.usdPerCreditMicros ?? 0)
    if (run.usdPerCreditMicros === undefined && amountMicros > 0) row.withoutRate += 1
  }

  /** Undefined for a run that is not counted. */
  #rowOf(run: Run | undefined, at: string): Margin | undefined {
    if (!run?.hasEnded || run.provider === undefined || !isWithin(at, this.#period)) return undefined
    const { family, provider } = run
    const month = at.slice(0, 7)
    const key = `${month} ${family} ${provider}`
    const row = this.#rows.get(key) ?? { ...{ month, family, provider }, ...nothing() }
    this.#rows.set(key, row)
    return row
  }
}

const nothing = () => ({
  ...{ runs: 0, failed: 0, chargedMicros: 0n, refundedMicros: 0n, earnedUsdPicos: 0n, withoutRate: 0 },
  ...{ costs: new Map<string, bigint>(), unknownCosts: 0 },
})

/** Revenue less cost, in millionths of a US dollar; undefined if a part of it is unknown in dollars. */
export const marginUsdMicros = ({ earnedUsdPicos, withoutRate, costs, unknownCosts }: Margin): bigint | undefined => {
  const isKnown = withoutRate === 0 && unknownCosts === 0 && [...costs.keys()].every(currency => currency === 'USD')
  return isKnown ? earnedUsdPicos / MILLION - (costs.get('USD') ?? 0n) : undefined
}

/** Whether the known costs of the runs exceed their revenue. */
export const isBelowCost = (row: Margin): boolean =>
  row.withoutRate === 0 && row.earnedUsdPicos < (row.costs.get('USD') ?? 0n) * MILLION

const MILLION = 1_000_000n

/** A run on a provider's bill. */
export interface CostLine extends ProviderCostRecorded {
  /** The end of the run: ISO 8601, in UTC. */
  at: string
  /** The provider's ID of the job, if it has one. */
  jobId?: string
  outcome: 'completed' | 'failed'
}

interface Ended {
  jobId: string | undefined
  outcome: CostLine['outcome']
}

interface Options extends CostPeriod {
  provider: string
  onProgress?: OnProgress | undefined
}

/**
 * The runs for which a provider charges, in the order of the log, to be compared with the provider's invoice. Throws
 * Damaged.
 */
export async function* providerStatement(
  log: ReadableLog,
  { provider, onProgress, ...period }: Options,
): AsyncGenerator<CostLine[]> {
  const jobs = new Map<string, string>()
  /** The newest ended run of each stream. The event of its cost follows, after any refund. */
  const ended = new Map<string, Ended>()
  for await (const page of readLog(log, { onProgress })) {
    const lines: CostLine[] = []
    for (const raw of page) {
      if (accountIn(raw.stream) === undefined || !READ.has(raw.type)) continue
      const event = eventCodec.decode(raw)
      const { type, stream, data, metadata } = event
      if (type === 'RunSubmitted') jobs.set(data.runId, data.jobId)
      if (type === 'RunCompleted' || type === 'RunFailed') {
        const outcome = type === 'RunCompleted' ? 'completed' : 'failed'
        ended.set(stream, { jobId: jobs.get(data.runId), outcome })
        jobs.delete(data.runId)
      }
      const cost = costOf(event)
      if (cost?.provider !== provider || !isWithin(metadata.at, period)) continue
      const { jobId, outcome = 'completed' } = ended.get(stream) ?? {}
      lines.push({ ...cost, at: metadata.at, outcome, ...(jobId !== undefined && { jobId }) })
    }
    if (lines.length > 0) yield lines
  }
}

const READ = new Set(['RunSubmitted', 'RunCompleted', 'RunFailed', 'ProviderCostRecorded'])

/** Times of the log. `from` is included, `to` is not. */
export interface CostPeriod {
  from?: string | undefined
  to?: string | undefined
}

export const isWithin = (at: string, { from = '', to }: CostPeriod): boolean =>
  at >= from && (to === undefined || at < to)
