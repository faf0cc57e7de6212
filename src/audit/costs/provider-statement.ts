import type { ProviderCostRecorded } from '../../../schemas/account-events.ts'
import { accountIn } from '../../../schemas/events.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { eventCodec } from '../../services/event-codec.ts'
import { type OnProgress, readLog } from '../read-log.ts'

/** A run on the bill of a provider. */
export interface CostLine extends ProviderCostRecorded {
  /** ISO 8601, in UTC: when the run ended. */
  at: string
  /** The provider's id of its job, if it had one. */
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

/** The runs that a provider charges for, in the order of the log, to be compared with its invoice. Throws Damaged. */
export async function* providerStatement(
  log: ReadableLog,
  { provider, onProgress, ...period }: Options,
): AsyncGenerator<CostLine[]> {
  const jobs = new Map<string, string>()
  /** The run that ended last in each stream. Its cost is the next event but for a refund. */
  const ended = new Map<string, Ended>()
  for await (const page of readLog(log, { onProgress })) {
    const lines: CostLine[] = []
    for (const raw of page) {
      if (accountIn(raw.stream) === undefined || !READ.has(raw.type)) continue
      const { type, stream, data, metadata } = eventCodec.decode(raw)
      if (type === 'RunSubmitted') jobs.set(data.runId, data.jobId)
      if (type === 'RunCompleted' || type === 'RunFailed') {
        const outcome = type === 'RunCompleted' ? 'completed' : 'failed'
        ended.set(stream, { jobId: jobs.get(data.runId), outcome })
        jobs.delete(data.runId)
      }
      if (type !== 'ProviderCostRecorded' || data.provider !== provider || !isWithin(metadata.at, period)) continue
      const { jobId, outcome = 'completed' } = ended.get(stream) ?? {}
      lines.push({ ...data, at: metadata.at, outcome, ...(jobId !== undefined && { jobId }) })
    }
    if (lines.length > 0) yield lines
  }
}

const READ = new Set(['RunSubmitted', 'RunCompleted', 'RunFailed', 'ProviderCostRecorded'])

/** Times of the log: the first one is included, the second one is not. */
export interface CostPeriod {
  from?: string | undefined
  to?: string | undefined
}

export const isWithin = (at: string, { from = '', to }: CostPeriod): boolean =>
  at >= from && (to === undefined || at < to)
