import type { Receipt } from '../../schemas/catalog.ts'
import type { RunId } from '../../schemas/primitives.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import type { QueueRun } from '../../src/domain/account/commands.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { newRunId } from '../../src/services/ids.ts'
import { AccountWriter } from './account-writer.ts'
import { input, receipt as unlisted } from './samples.ts'

/** Events per run, from the debit to the completion. */
export const EVENTS_PER_RUN = 4

/** Runs per append. */
const BATCH = 100

interface Filling {
  runs: number
  accounts: number
  webhookUrl?: string
  /** The price of each run; by default, one that no catalog lists. */
  receipt?: Receipt
}

/** Fills a log with finished runs over several accounts, as the service would write them. */
export const fillLog = async (
  log: EventLog,
  { runs, accounts, webhookUrl, receipt = unlisted }: Filling,
): Promise<void> => {
  const at = new Date().toISOString()
  for (let index = 0; index < accounts; index++) {
    const writer = await AccountWriter.open(log, `a${index}@b.c`, at)
    for (let run = 0; run < runs / accounts; run++) {
      const runId = newRunId(systemRandom)
      writer.apply(queue(runId, receipt, webhookUrl), at)
      writer.apply({ type: 'CompleteRun', runId, output: { artifacts: [], text: 'done' } }, at)
      if (run % BATCH === 0) await writer.flush()
    }
    await writer.flush()
  }
}

export const queue = (runId: RunId, receipt: Receipt, webhookUrl?: string): QueueRun => ({
  type: 'QueueRun',
  run: {
    runId,
    model: 'nano-banana-2',
    endpoint: 'nano-banana-2-t2i',
    mode: 'sync',
    timeoutMs: 120_000,
    input,
    ...(webhookUrl !== undefined && { webhookUrl }),
  },
  receipt,
  startAt: { provider: 'sandbox', model: 'sandbox' },
})
